// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/direct_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast {

Result<DirectFile>
DirectFile::open_with(const std::string& path, int flags, int mode) {
  Descriptor file = open_descriptor(path, flags | O_DIRECT, mode);
  if (!file.ok()) {
    // Linux says EINVAL of a file system that cannot.
    return errno == EINVAL
        ? Status(
              ErrorCode::kUnsupported,
              path + ": expected a file system with direct access, got none")
        : posix_status(errno, "open", path);
  }
  return DirectFile(std::move(file), path);
}

Result<DirectFile> DirectFile::open(const std::string& path) {
  return open_with(path, O_RDONLY, 0);
}

Result<DirectFile> DirectFile::create(const std::string& path) {
  return open_with(path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

Result<Bytes> DirectFile::size() const {
  struct stat info {};
  if (::fstat(file_.get(), &info) < 0) {
    return posix_status(errno, "stat", path_);
  }
  return Bytes(info.st_size);
}

Status DirectFile::read(Bytes offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got =
        ::pread(file_.get(), into.data(), into.size(), offset.get());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return posix_status(errno, "read", path_);
    }
    if (got % kAlignment != 0 || got == 0) {
      return Status(ErrorCode::kCorrupt, path_ + ": the file ends before");
    }
    offset += Bytes(got);
    into = into.subspan(static_cast<size_t>(got));
  }
  return {};
}

Status DirectFile::write(Bytes offset, std::span<const std::byte> from) {
  while (!from.empty()) {
    const ssize_t put =
        ::pwrite(file_.get(), from.data(), from.size(), offset.get());
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return posix_status(put == 0 ? EIO : errno, "write", path_);
    }
    offset += Bytes(put);
    from = from.subspan(static_cast<size_t>(put));
  }
  return {};
}

Status DirectFile::sync() {
  return ::fdatasync(file_.get()) < 0 ? posix_status(errno, "sync", path_)
                                      : Status();
}

Status forget_cached(const std::string& path) {
  const Descriptor file = open_descriptor(path, O_RDONLY);
  if (!file.ok()) {
    return posix_status(errno, "open", path);
  }
  if (::fdatasync(file.get()) < 0) {
    return posix_status(errno, "sync", path);
  }
  const int error = ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  return error != 0 ? posix_status(error, "forget", path) : Status();
}

} // namespace holdfast
