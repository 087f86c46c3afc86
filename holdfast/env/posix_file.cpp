// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/posix_file.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "holdfast/env/mapping_guard.h"

namespace holdfast {

namespace {

constexpr int64_t kMapAlignment = 4096;

// Of a large file the device begins with the first bytes while later ones are
// still on their way here; else all of it would wait for the sync.
constexpr int64_t kBeginEarly = int64_t{8} << 20;

int64_t nanoseconds(const struct timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
      return ErrorCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kOutOfBudget;
    case EBADF: // written without write access
    case EEXIST:
    case EINVAL:
    case EISDIR:
    case ELOOP: // a symbolic link
    case ENAMETOOLONG:
    case ENOTDIR:
    case ENOTEMPTY:
    case ENXIO: // a socket, or a pipe that nobody reads
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kIo;
  }
}

template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// Whether [offset, offset + length) is a range of a file at all.
bool is_range(Bytes offset, int64_t length) {
  return offset.get() >= 0 && length >= 0 &&
      length <= std::numeric_limits<off_t>::max() - offset.get();
}

constexpr size_t kPartsAtOnce = 512;
constexpr uintptr_t kDirectAlignment = 4096;

bool may_go_directly(Bytes offset, File::Pieces pieces) {
  uintptr_t bits = static_cast<uintptr_t>(offset.get());
  for (const auto piece : pieces) {
    bits |= reinterpret_cast<uintptr_t>(piece.data()) | piece.size();
  }
  return bits % kDirectAlignment == 0;
}

Status no_range(const std::string& path, Bytes offset, int64_t length) {
  return Status(
      ErrorCode::kInvalidArgument,
      path + ": expected a range of a file, got " + std::to_string(length) +
          " bytes from " + std::to_string(offset.get()));
}

Status too_short(const std::string& path, int64_t end) {
  return Status(
      ErrorCode::kCorrupt,
      path + ": expected at least " + std::to_string(end) +
          " bytes, the file ends before");
}

} // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    const int error = errno;
    ::close(number_);
    errno = error;
  }
}

Descriptor open_descriptor(const std::string& path, int flags, int mode) {
  if (path.find('\0') != std::string::npos) {
    errno = EINVAL;
    return Descriptor(-1);
  }
  return Descriptor(uninterrupted([&] {
    return ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  }));
}

Status posix_status(int error, const char* verb, const std::string& path) {
  return Status(
      code_of(error),
      path + ": cannot " + verb + ": " +
          std::error_code(error, std::generic_category()).message());
}

FileFacts facts_of(const struct stat& info) {
  FileFacts facts;
  facts.kind = S_ISREG(info.st_mode) ? FileFacts::Kind::kFile
      : S_ISDIR(info.st_mode)        ? FileFacts::Kind::kFolder
                                     : FileFacts::Kind::kOther;
  facts.device = info.st_dev;
  facts.inode = info.st_ino;
  facts.size = Bytes(info.st_size);
  facts.allocated = Bytes(int64_t{info.st_blocks} * 512);
  facts.modified_ns = nanoseconds(info.st_mtim);
  facts.changed_ns = nanoseconds(info.st_ctim);
  facts.mode = info.st_mode & 07777u;
  facts.owner = info.st_uid;
  return facts;
}

Status PosixFile::read(Bytes offset, std::span<std::byte> into) const {
  if (!is_range(offset, static_cast<int64_t>(into.size()))) {
    return no_range(path_, offset, static_cast<int64_t>(into.size()));
  }
  const int64_t end = offset.get() + static_cast<int64_t>(into.size());
  while (!into.empty()) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(
          file_.get(),
          into.data(),
          into.size(),
          end - static_cast<int64_t>(into.size()));
    });
    if (got < 0) {
      return posix_status(errno, "read", path_);
    }
    if (got == 0) {
      return too_short(path_, end);
    }
    into = into.subspan(static_cast<size_t>(got));
  }
  return {};
}

Status PosixFile::write(Bytes offset, std::span<const std::byte> from) {
  if (!is_range(offset, static_cast<int64_t>(from.size()))) {
    return no_range(path_, offset, static_cast<int64_t>(from.size()));
  }
  const auto size = static_cast<int64_t>(from.size());
  const int64_t end = offset.get() + size;
  while (!from.empty()) {
    const ssize_t put = uninterrupted([&] {
      return ::pwrite(
          file_.get(),
          from.data(),
          from.size(),
          end - static_cast<int64_t>(from.size()));
    });
    if (put <= 0) {
      return posix_status(put == 0 ? EIO : errno, "write", path_);
    }
    from = from.subspan(static_cast<size_t>(put));
  }
  if (waiting_.fetch_add(size) + size >= kBeginEarly) {
    waiting_.store(0);
    // A hint: what the device fails to write, the sync says.
    ::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  return {};
}

Status PosixFile::write_pieces(Bytes offset, Pieces pieces, Remember remember) {
  int64_t size = 0;
  for (const auto piece : pieces) {
    size += static_cast<int64_t>(piece.size());
  }
  if (!is_range(offset, size)) {
    return no_range(path_, offset, size);
  }
  int64_t done = remember == Remember::kNo && may_go_directly(offset, pieces)
      ? write_directly(offset.get(), pieces)
      : 0;
  for (const auto piece : pieces) {
    const auto length = static_cast<int64_t>(piece.size());
    const int64_t skipped = std::min(done, length);
    done -= skipped;
    const auto rest = piece.subspan(static_cast<size_t>(skipped));
    Status status =
        rest.empty() ? Status() : write(offset + Bytes(skipped), rest);
    if (!status.ok()) {
      return status;
    }
    offset += Bytes(length);
  }
  return {};
}

int64_t PosixFile::write_directly(int64_t offset, Pieces pieces) {
  std::call_once(direct_once_, [&] {
    // The link of the system's own is followed: whatever its name is by now, it
    // is this file.
    const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
    direct_ = Descriptor(uninterrupted(
        [&] { return ::open(self.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC); }));
  });
  int64_t done = 0;
  while (direct_.ok() && !pieces.empty()) {
    struct iovec parts[kPartsAtOnce];
    size_t count = 0;
    int64_t wanted = 0;
    for (; count < std::min(pieces.size(), kPartsAtOnce); ++count) {
      // The system's type has no const; it is read alone.
      parts[count] = {
          const_cast<std::byte*>(pieces[count].data()), pieces[count].size()};
      wanted += static_cast<int64_t>(pieces[count].size());
    }
    const ssize_t put = uninterrupted([&] {
      return ::pwritev(
          direct_.get(), parts, static_cast<int>(count), offset + done);
    });
    done += std::max<ssize_t>(put, 0);
    if (put != wanted) {
      break; // what is wrong shows where it goes the other way
    }
    pieces = pieces.subspan(count);
  }
  return done;
}

Status PosixFile::truncate(Bytes size) {
  if (uninterrupted([&] { return ::ftruncate(file_.get(), size.get()); }) < 0) {
    return posix_status(errno, "truncate", path_);
  }
  return {};
}

Status PosixFile::sync() {
  if (sync_failed_.load()) {
    return Status(
        ErrorCode::kIo, path_ + ": cannot sync: an earlier sync failed");
  }
  // The size goes with the bytes: a reader could not find them without it.
  if (uninterrupted([&] { return ::fdatasync(file_.get()); }) < 0) {
    const int error = errno;
    sync_failed_.store(true);
    return posix_status(error, "sync", path_);
  }
  return {};
}

Status PosixFile::punch(Bytes offset, Bytes length) {
  if (!is_range(offset, length.get())) {
    return no_range(path_, offset, length.get());
  }
  if (length.get() == 0) {
    return {};
  }
  const int done = uninterrupted([&] {
    return ::fallocate(
        file_.get(),
        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        offset.get(),
        length.get());
  });
  if (done == 0) {
    return {};
  }
  const int error = errno;
  const Status status = posix_status(error, "punch", path_);
  // Here alone a caller has another way.
  return error == EOPNOTSUPP ? Status(ErrorCode::kUnsupported, status.text())
                             : status;
}

Result<FileFacts> PosixFile::facts() const {
  struct stat info {};
  if (::fstat(file_.get(), &info) < 0) {
    return posix_status(errno, "stat", path_);
  }
  return facts_of(info);
}

Result<MappedBytes> PosixFile::map(Bytes offset, Bytes length) const {
  if (!is_range(offset, length.get()) || offset.get() % kMapAlignment != 0) {
    return no_range(path_, offset, length.get());
  }
  const Result<FileFacts> known = facts();
  if (!known.ok()) {
    return known.status();
  }
  if (offset + length > known.value().size) {
    return too_short(path_, (offset + length).get());
  }
  if (length.get() == 0) {
    static const std::byte nothing{};
    return MappedBytes(MappedBytes(), &nothing);
  }
  // Pages may be larger than the alignment that callers keep.
  const int64_t lead = offset.get() % ::sysconf(_SC_PAGESIZE);
  const size_t size = static_cast<size_t>(length.get() + lead);
  void* data = ::mmap(
      nullptr, size, PROT_READ, MAP_SHARED, file_.get(), offset.get() - lead);
  if (data == MAP_FAILED) {
    return posix_status(errno, "map", path_);
  }
  struct Mapping {
    Mapping(void* at, size_t bytes)
        : data(at), size(bytes), watched(std::in_place, at, bytes) {}
    ~Mapping() {
      watched.reset();
      ::munmap(data, size);
    }
    void* const data;
    const size_t size;
    std::optional<WatchedMapping> watched;
  };
  const auto mapping = std::make_shared<Mapping>(data, size);
  return MappedBytes(mapping, static_cast<const std::byte*>(data) + lead);
}

} // namespace holdfast
