// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "state_place.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/paths.h"

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

Bytes default_ram_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  return ram_share(meminfo);
}

Bytes ram_share(std::istream& meminfo) {
  std::string word;
  int64_t kib = 0;
  while (meminfo >> word) {
    if (word == "MemAvailable:" && meminfo >> kib) {
      return Bytes(kib * 1024 / 2);
    }
  }
  return Bytes(int64_t{1} << 30);
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

namespace {

/// The folder and all above it, the outermost first.
std::vector<std::string> folders_down_to(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') {
    folder.pop_back();
  }
  std::vector<std::string> all;
  for (std::string above = folder_of_path(folder); folder != above;
       above = folder_of_path(folder)) {
    all.push_back(std::exchange(folder, above));
  }
  std::ranges::reverse(all);
  return all;
}

} // namespace

Status make_state_folder(FileSystem& files, const std::string& folder) {
  for (const std::string& each : folders_down_to(folder)) {
    const bool missing =
        files.facts(each).status().code() == ErrorCode::kNotFound;
    Status status = missing ? files.create_folder(each) : Status();
    if (status.ok()) {
      // One that was there may be of somebody who died before he synced it; or
      // it has been there for years, and is none of ours to sync.
      const Status synced = files.sync_folder(folder_of_path(each));
      status = missing ? synced : Status();
    }
    if (!status.ok()) {
      return status;
    }
  }
  // Its own name is synced by the tier that opens it.
  return files.create_folder(tier_folder(folder));
}

} // namespace holdfast::app
