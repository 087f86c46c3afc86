// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/folder_file.h"

#include <filesystem>
#include <system_error>

namespace holdfast {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 1024;

/// Something that can only lie below the folder, were there no links.
bool is_plain(std::string_view name) {
  if (name.empty() || name.size() > kLongestName ||
      name.find('\0') != name.npos || name.find('\n') != name.npos) {
    return false;
  }
  const fs::path path(name);
  if (path.is_absolute()) {
    return false;
  }
  for (const fs::path& part : path) {
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
  }
  return true;
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const fs::path from = path.lexically_relative(folder);
  return !from.empty() && *from.begin() != ".." && from != ".";
}

/// ROOT/blobs/HASH, of the folder ROOT/snapshots/REVISION.
bool is_blob(const fs::path& path, const fs::path& folder) {
  const fs::path snapshots = folder.parent_path();
  return snapshots.filename() == "snapshots" &&
      path.parent_path() == snapshots.parent_path() / "blobs";
}

} // namespace

Result<std::string>
file_in_folder(const std::string& folder, std::string_view name) {
  if (!is_plain(name)) {
    std::string shown(name.substr(0, 64));
    for (char& c : shown) {
      c = c >= ' ' && c <= '~' ? c : '?';
    }
    return Status(
        ErrorCode::kCorrupt,
        folder + ": expected the name of a file within the folder, got \"" +
            shown + '"');
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error || !fs::is_directory(root, error)) {
    return Status(
        ErrorCode::kInvalidArgument, folder + ": expected a folder, got none");
  }
  const fs::path asked = fs::path(folder) / name;
  const fs::path real = fs::canonical(root / name, error);
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory ||
        error == std::errc::not_a_directory;
    return Status(
        missing ? ErrorCode::kNotFound : ErrorCode::kIo,
        asked.string() + ": expected a file, got none (" + error.message() +
            ")");
  }
  if (!lies_below(real, root) && !is_blob(real, root)) {
    return Status(
        ErrorCode::kCorrupt,
        asked.string() +
            ": expected a file within the folder, got a link out of it");
  }
  return real.string();
}

} // namespace holdfast
