// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_opening.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "console.h"
#include "errors.h"
#include "slow_notice.h"

namespace holdfast::app {

namespace {

using Action = TierFinding::Action;

const char* name_of(Action action) {
  switch (action) {
    case Action::kRemoved:
      return "removed";
    case Action::kSetAside:
      return "set aside";
    case Action::kCounted:
      return "counted";
    case Action::kDropped:
      return "dropped";
    case Action::kNoted:
      break;
  }
  return "noted";
}

/// Whether something was lost by it, or the user should mend it.
bool concerns_user(const TierFinding& finding) {
  return finding.action == Action::kSetAside ||
      finding.action == Action::kDropped || finding.action == Action::kNoted;
}

std::string line_of(const TierFinding& finding, const std::string& folder) {
  const std::string where =
      finding.file == "." ? folder : folder + "/" + finding.file;
  switch (finding.action) {
    case Action::kSetAside:
      return where +
          ": the list of what was kept was damaged and is set "
          "aside, so none of it is known any more: " +
          finding.reason;
    case Action::kDropped:
      return where + ": " + std::to_string(finding.bytes.get()) +
          " bytes that were kept are lost and will be computed again: " +
          finding.reason;
    default:
      return where + ": " + finding.reason;
  }
}

void complain_of(const TierReport& report, const std::string& folder) {
  constexpr size_t kMostLines = 8;
  size_t lines = 0;
  for (const TierFinding& finding : report.findings) {
    if (concerns_user(finding) && lines++ < kMostLines) {
      complain(line_of(finding, folder));
    }
  }
  if (lines > kMostLines) {
    complain(
        folder + ": and " + std::to_string(lines - kMostLines) +
        " more of the kind");
  }
}

} // namespace

std::unique_ptr<DiskTier> open_tier(const DiskTierOptions& options) {
  std::optional<SlowNotice> notice(
      std::in_place,
      "waiting for another process that has " + options.folder +
          " locked; one that was stopped keeps it until it goes on or ends",
      std::chrono::seconds(2));
  Result<std::unique_ptr<DiskTier>> tier = DiskTier::open(options);
  notice.reset();
  if (tier.status().code() == ErrorCode::kUnsupported) {
    throw UserError(
        "--state: " + tier.status().text() +
        "; go on with that version, with another folder, or without what is "
        "kept: remove " +
        options.folder);
  }
  if (!tier.ok()) {
    throw UserError("--state: " + tier.status().text());
  }
  complain_of(tier.value()->report(), options.folder);
  return std::move(tier).value();
}

Json findings_json(const TierReport& report) {
  Json findings = Json::array();
  for (const TierFinding& finding : report.findings) {
    findings.push_back(
        {{"file", finding.file},
         {"bytes", finding.bytes.get()},
         {"action", name_of(finding.action)},
         {"reason", finding.reason}});
  }
  return findings;
}

} // namespace holdfast::app
