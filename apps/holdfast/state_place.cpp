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
  return free.ok() ? std::min(kMostDisk, Bytes(free.value().get() / 10))
                   : kMostDisk;
}

std::string tier_folder(const std::string& folder) {
  return folder + "/tier";
}

} // namespace holdfast::app
