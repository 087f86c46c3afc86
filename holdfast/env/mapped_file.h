// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file mapped read-only. Its bytes are those of the file when they are first
// touched: a file that another process truncates meanwhile faults.
// Threads: all const members from any thread.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/file_identity.h"

namespace holdfast {

class MappedFile {
 public:
  /// Maps a regular file (an empty one gives no bytes). Errors: kNotFound, kIo,
  /// and kInvalidArgument for what is no regular file; the text names the path.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const {
    return bytes_;
  }
  const std::string& path() const {
    return path_;
  }
  /// As it was opened.
  const FileIdentity& identity() const {
    return identity_;
  }
  /// Gives back the resident pages that lie wholly inside [offset, offset +
  /// length); their bytes are read from the file again if touched again.
  void drop(Bytes offset, Bytes length) const;
  /// Asks the system to read [offset, offset + length) ahead.
  void will_need(Bytes offset, Bytes length) const;

 private:
  MappedFile(
      std::string path,
      const FileIdentity& identity,
      std::span<const std::byte> bytes)
      : path_(std::move(path)), identity_(identity), bytes_(bytes) {}

  std::string path_;
  FileIdentity identity_;
  std::span<const std::byte> bytes_;
};

} // namespace holdfast
