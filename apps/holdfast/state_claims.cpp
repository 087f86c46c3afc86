// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_claims.h"

#include <utility>

#include "chat_record.h"
#include "errors.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/record_claims.h"
#include "state_target.h"

namespace holdfast::app {

Result<std::shared_ptr<void>>
claim_keys(KeyClaims claims, const std::vector<std::string>& keys) {
  const auto all = std::make_shared<std::vector<std::shared_ptr<void>>>();
  for (const std::string& key : keys) {
    auto claim = claims.claim(key);
    if (!claim.ok()) {
      return claim.status();
    }
    all->push_back(std::move(claim).value());
  }
  return std::shared_ptr<void>(all);
}

namespace {

std::vector<std::string> keys_of(const RecordName& name) {
  if (name.space == kChatSpace) {
    return chat_claims(name.name);
  }
  if (name.space == kQuestionSpace || name.space == kGenerationSpace) {
    return {record_claim(name)};
  }
  return {};
}

} // namespace

RecordClaims::RecordClaims(const DiskTier& tier)
    : folder_(tier.options().folder), claims_(tier.claims()) {}

void RecordClaims::claim(const RecordName& name) {
  for (const std::string& key : keys_of(name)) {
    if (held_.contains(key)) {
      continue;
    }
    auto claim = claims_.claim(key);
    if (claim.status().code() == ErrorCode::kUnsupported) {
      throw UserError(
          shown(name) +
          ": expected a record that no process is at work on, got one that is "
          "in use (end that process first)");
    }
    held_.emplace(key, std::move(claim).value());
  }
}

void RecordClaims::claim_all() {
  auto claim = claims_.claim_all();
  if (claim.status().code() == ErrorCode::kUnsupported) {
    throw UserError(
        folder_ +
        ": expected records that no process is at work on, got some that are "
        "in use (end the chats and runs there first)");
  }
  held_.emplace("", std::move(claim).value());
}

} // namespace holdfast::app
