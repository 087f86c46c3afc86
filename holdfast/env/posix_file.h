// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One open file of the system, and what its error numbers mean. For
// posix_file_system alone. Threads: all from any thread; calls may overlap.
//
// A sync that failed may have lost bytes although a second one would report
// success (the system marks them as written), so every later sync fails too.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include <sys/stat.h>

#include "holdfast/env/file_system.h"

namespace holdfast {

/// A descriptor, closed with its owner; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const {
    return number_;
  }
  bool ok() const {
    return number_ >= 0;
  }

 private:
  int number_;
};

/// open(2), again where a signal interrupted it, never following a link and
/// never left to programs that are started.
Descriptor open_descriptor(const std::string& path, int flags, int mode = 0);

/// What the error number `error` says of the call `verb` on `path`.
Status posix_status(int error, const char* verb, const std::string& path);

FileFacts facts_of(const struct stat& info);

class PosixFile : public File {
 public:
  PosixFile(Descriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  Status read(Bytes offset, std::span<std::byte> into) const override;
  Status write(Bytes offset, std::span<const std::byte> from) override;
  Status write_pieces(Bytes offset, Pieces pieces, Remember remember) override;
  Status truncate(Bytes size) override;
  Status sync() override;
  Status punch(Bytes offset, Bytes length) override;
  Result<FileFacts> facts() const override;
  Result<MappedBytes> map(Bytes offset, Bytes length) const override;
  const std::string& path() const override {
    return path_;
  }

 private:
  /// Past the system's memory of files; how many bytes went that way. The rest
  /// goes as anything does.
  int64_t write_directly(int64_t offset, Pieces pieces);

  Descriptor file_;
  std::string path_;
  std::once_flag direct_once_;
  Descriptor direct_{-1}; // of the same file; none where it has no such way
  std::atomic<bool> sync_failed_{false};
  std::atomic<int64_t> waiting_{0}; // bytes that the device was not told of
};

} // namespace holdfast
