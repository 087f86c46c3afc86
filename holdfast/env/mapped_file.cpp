// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holdfast/env/posix_file.h"

namespace holdfast {

namespace {

Status failure(const std::string& path, const char* verb) {
  const int error = errno;
  return Status(
      error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
      path + ": cannot " + verb + ": " + std::strerror(error));
}

} // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return failure(path, "open");
  }
  struct stat info {};
  if (::fstat(file, &info) != 0) {
    Status status = failure(path, "stat");
    ::close(file);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file);
    return Status(
        ErrorCode::kInvalidArgument, path + ": expected a regular file");
  }
  const FileFacts facts = facts_of(info);
  const FileIdentity identity{
      facts.device,
      facts.inode,
      facts.size.get(),
      facts.modified_ns,
      facts.changed_ns};
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    ::close(file);
    return MappedFile(path, identity, {});
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  Status status = data == MAP_FAILED ? failure(path, "map") : Status();
  ::close(file);
  if (!status.ok()) {
    return status;
  }
  return MappedFile(
      path, identity, {static_cast<const std::byte*>(data), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      identity_(other.identity_),
      bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(identity_, other.identity_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

void MappedFile::drop(Bytes offset, Bytes length) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  const int64_t begin = (offset.get() + page - 1) / page * page;
  const int64_t end = (offset + length).get() / page * page;
  if (begin >= 0 && begin < end && end <= static_cast<int64_t>(bytes_.size())) {
    ::madvise(
        const_cast<std::byte*>(bytes_.data()) + begin,
        end - begin,
        MADV_DONTNEED);
  }
}

void MappedFile::will_need(Bytes offset, Bytes length) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  const int64_t begin = offset.get() / page * page;
  const int64_t end = (offset + length).get();
  if (begin >= 0 && begin < end && end <= static_cast<int64_t>(bytes_.size())) {
    ::madvise(
        const_cast<std::byte*>(bytes_.data()) + begin,
        end - begin,
        MADV_WILLNEED);
  }
}

} // namespace holdfast
