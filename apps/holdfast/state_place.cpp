// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_place.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "holdfast/env/posix_file_system.h"

namespace holdfast::app {

namespace {

constexpr Bytes kMostDisk{int64_t{20} << 30};

/// The variable where it holds an absolute path; others mean nothing.
std::optional<std::filesystem::path> folder_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] != '/') {
    return std::nullopt;
  }
  return value;
}

} // namespace

std::optional<std::string> default_state_folder() {
  if (const auto data = folder_in("XDG_DATA_HOME")) {
    return *data / "holdfast";
  }
  if (const auto home = folder_in("HOME")) {
    return *home / ".local/share/holdfast";
  }
  return std::nullopt;
}

Bytes default_disk_bytes(const std::string& folder) {
  const Result<Bytes> free = posix_file_system()->free_space(folder);
  return free.ok() ? disk_share(free.value(), kept_bytes(folder)) : kMostDisk;
}

Bytes disk_share(Bytes free, Bytes kept) {
  return std::min(kMostDisk, std::max(kept, Bytes((free + kept).get() / 10)));
}

Bytes kept_bytes(const std::string& folder) {
  Bytes sum;
  for (const std::string& part :
       {tier_folder(folder), tier_folder(folder) + "/open"}) {
    const auto names = posix_file_system()->list(part);
    if (!names.ok()) {
      continue; // nothing is kept yet
    }
    for (const std::string& name : names.value()) {
      const auto facts = posix_file_system()->facts(part + "/" + name);
      if (facts.ok() && facts.value().kind == FileFacts::Kind::kFile) {
        sum += facts.value().allocated;
      }
    }
  }
  return sum;
}

std::string tier_folder(const std::string& folder) {
  return folder + "/tier";
}

} // namespace holdfast::app
