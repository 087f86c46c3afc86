// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A file of the system past the memory that the system keeps of files, to
// measure what a device can do; and how that memory is given up. Nothing that
// keeps state uses it. Threads: any; calls may overlap.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/posix_file.h"

namespace holdfast {

class DirectFile {
 public:
  /// Places in the file, lengths and addresses are multiples of this.
  static constexpr int64_t kAlignment = 4096;

  /// An existing regular file, for reading. kUnsupported where the file system
  /// has no such way.
  static Result<DirectFile> open(const std::string& path);
  /// A new one, for writing; kInvalidArgument where there is anything of that
  /// name.
  static Result<DirectFile> create(const std::string& path);

  Result<Bytes> size() const;
  /// Fills `into`; kCorrupt where the file ends before.
  Status read(Bytes offset, std::span<std::byte> into) const;
  Status write(Bytes offset, std::span<const std::byte> from);
  Status sync();

 private:
  DirectFile(Descriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  static Result<DirectFile>
  open_with(const std::string& path, int flags, int mode);

  Descriptor file_;
  std::string path_;
};

/// Brings the file to the device and has the system forget its bytes: the next
/// reader gets them from the device. What a process has mapped stays.
Status forget_cached(const std::string& path);

} // namespace holdfast
