// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/posix_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "holdfast/env/posix_file.h"

namespace holdfast {

namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

bool is_name(const std::string& path) {
  return path.find('\0') == std::string::npos;
}

/// Without slashes at the end, which would follow a link.
std::string plain(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  return last == std::string::npos ? path.substr(0, 1)
                                   : path.substr(0, last + 1);
}

Status no_regular_file(const std::string& path) {
  return Status(
      ErrorCode::kInvalidArgument, path + ": expected a regular file");
}

Status require_regular(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) < 0) {
    return posix_status(errno, "stat", path);
  }
  return S_ISREG(info.st_mode) ? Status() : no_regular_file(path);
}

/// The umask may have taken permissions from what was just created.
Status make_private(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) < 0) {
    return posix_status(errno, "stat", path);
  }
  if ((info.st_mode & 0777u) != kFileMode &&
      ::fchmod(file.get(), kFileMode) < 0) {
    return posix_status(errno, "make private", path);
  }
  return {};
}

class PosixLock : public FileLock {
 public:
  explicit PosixLock(Descriptor file)
      : file_(std::move(file)), owner_(::getpid()) {}
  ~PosixLock() override {
    // Closing alone would leave the lock to children that share the
    // descriptor, and letting go in a child would take it from its parent.
    if (::getpid() == owner_) {
      ::flock(file_.get(), LOCK_UN);
    }
  }

 private:
  Descriptor file_;
  pid_t owner_;
};

/// Opens or creates the file that a lock is on.
Result<Descriptor> open_lock(const std::string& path) {
  const std::string name = plain(path);
  for (;;) {
    Descriptor file = open_descriptor(name, O_RDWR | O_NONBLOCK);
    if (!file.ok() && (errno == EACCES || errno == EROFS)) {
      file = open_descriptor(name, O_RDONLY | O_NONBLOCK);
    }
    if (file.ok()) {
      return file;
    }
    if (errno != ENOENT) {
      return posix_status(errno, "open", path);
    }
    file = open_descriptor(name, O_RDWR | O_CREAT | O_EXCL, kFileMode);
    if (file.ok()) {
      Status status = make_private(file, path);
      return status.ok() ? Result<Descriptor>(std::move(file)) : status;
    }
    if (errno != EEXIST) { // else another created it meanwhile
      return posix_status(errno, "create", path);
    }
  }
}

/// Whether `path` still names the file behind `file`.
bool is_named(const Descriptor& file, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(file.get(), &held) == 0 &&
      ::lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
      held.st_ino == named.st_ino;
}

class PosixFileSystem : public FileSystem {
 public:
  Result<std::unique_ptr<File>>
  open(const std::string& path, Access access) override;
  Result<std::unique_ptr<File>> create(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status create_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<FileFacts> facts(const std::string& path) override;
  Result<Bytes> free_space(const std::string& path) override;
  Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) override;
  Status will_need(std::span<const std::byte> mapped) override;
};

Result<std::unique_ptr<File>>
PosixFileSystem::open(const std::string& path, Access access) {
  const int flags = access == Access::kRead ? O_RDONLY : O_RDWR;
  Descriptor file = open_descriptor(plain(path), flags | O_NONBLOCK);
  if (!file.ok()) {
    return posix_status(errno, "open", path);
  }
  Status status = require_regular(file, path);
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<File>(
      std::make_unique<PosixFile>(std::move(file), path));
}

Result<std::unique_ptr<File>> PosixFileSystem::create(const std::string& path) {
  Descriptor file =
      open_descriptor(plain(path), O_RDWR | O_CREAT | O_EXCL, kFileMode);
  if (!file.ok()) {
    return posix_status(errno, "create", path);
  }
  Status status = make_private(file, path);
  if (!status.ok()) {
    ::unlink(plain(path).c_str());
    return status;
  }
  return std::unique_ptr<File>(
      std::make_unique<PosixFile>(std::move(file), path));
}

Status PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (!is_name(from) || !is_name(to)) {
    return posix_status(EINVAL, "rename", from);
  }
  if (::rename(plain(from).c_str(), plain(to).c_str()) < 0) {
    return posix_status(errno, "rename", from + " to " + to);
  }
  return {};
}

Status PosixFileSystem::remove(const std::string& path) {
  if (!is_name(path)) {
    return posix_status(EINVAL, "remove", path);
  }
  if (::remove(plain(path).c_str()) < 0) {
    return posix_status(errno, "remove", path);
  }
  return {};
}

Status PosixFileSystem::create_folder(const std::string& path) {
  if (!is_name(path)) {
    return posix_status(EINVAL, "create the folder", path);
  }
  const bool made = ::mkdir(plain(path).c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) {
    return posix_status(errno, "create the folder", path);
  }
  struct stat info {};
  if (::lstat(plain(path).c_str(), &info) < 0) {
    return posix_status(errno, "stat", path);
  }
  if (!S_ISDIR(info.st_mode)) {
    return Status(ErrorCode::kInvalidArgument, path + ": expected a folder");
  }
  if (made && (info.st_mode & 0777u) != kFolderMode &&
      ::chmod(plain(path).c_str(), kFolderMode) < 0) {
    return posix_status(errno, "make private", path);
  }
  return {};
}

Status PosixFileSystem::sync_folder(const std::string& path) {
  const Descriptor folder =
      open_descriptor(plain(path), O_RDONLY | O_DIRECTORY);
  if (!folder.ok()) {
    return posix_status(errno, "open the folder", path);
  }
  while (::fsync(folder.get()) < 0) {
    if (errno == EINVAL) { // a file system without such a call
      return posix_status(EOPNOTSUPP, "sync the folder", path);
    }
    if (errno != EINTR) {
      return posix_status(errno, "sync the folder", path);
    }
  }
  return {};
}

Result<std::vector<std::string>>
PosixFileSystem::list(const std::string& path) {
  const Descriptor folder =
      open_descriptor(plain(path), O_RDONLY | O_DIRECTORY);
  if (!folder.ok()) {
    return posix_status(errno, "open the folder", path);
  }
  // The stream takes its descriptor over, and closes it.
  const int own = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
  DIR* const stream = own < 0 ? nullptr : ::fdopendir(own);
  if (stream == nullptr) {
    Status status = posix_status(errno, "list", path);
    if (own >= 0) {
      ::close(own);
    }
    return status;
  }
  std::vector<std::string> names;
  errno = 0;
  while (const struct dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
    errno = 0;
  }
  const int error = errno;
  ::closedir(stream);
  if (error != 0) {
    return posix_status(error, "list", path);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<FileFacts> PosixFileSystem::facts(const std::string& path) {
  struct stat info {};
  if (!is_name(path)) {
    return posix_status(EINVAL, "stat", path);
  }
  if (::lstat(plain(path).c_str(), &info) < 0) {
    return posix_status(errno, "stat", path);
  }
  return facts_of(info);
}

Result<Bytes> PosixFileSystem::free_space(const std::string& path) {
  const Descriptor there = open_descriptor(plain(path), O_PATH);
  struct statvfs info {};
  if (!there.ok() || ::fstatvfs(there.get(), &info) < 0) {
    return posix_status(errno, "ask for the free space of", path);
  }
  return Bytes(
      static_cast<int64_t>(info.f_bavail) *
      static_cast<int64_t>(info.f_frsize));
}

Result<std::unique_ptr<FileLock>>
PosixFileSystem::lock(const std::string& path, Wait wait) {
  for (;;) {
    Result<Descriptor> file = open_lock(path);
    if (!file.ok()) {
      return file.status();
    }
    Status status = require_regular(file.value(), path);
    if (!status.ok()) {
      return status;
    }
    const int how = LOCK_EX | (wait == Wait::kNo ? LOCK_NB : 0);
    while (::flock(file.value().get(), how) < 0) {
      if (errno == EWOULDBLOCK) {
        return Status(
            ErrorCode::kOutOfBudget, path + ": another holds the lock");
      }
      if (errno != EINTR) {
        return posix_status(errno, "lock", path);
      }
    }
    // While we waited the file may have been removed or replaced: then others
    // lock the one that has the name now.
    if (is_named(file.value(), plain(path))) {
      return std::unique_ptr<FileLock>(
          std::make_unique<PosixLock>(std::move(file).value()));
    }
  }
}

Status PosixFileSystem::will_need(std::span<const std::byte> mapped) {
  // Linux reads no more of one request than the device's read-ahead, so a large
  // one would end early: a mebibyte each, submitted one after the other.
  constexpr size_t kPiece = size_t{1} << 20;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(mapped.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(mapped.data()) + mapped.size();
  for (uintptr_t at = begin; at < end; at += kPiece) {
    const size_t size = std::min(kPiece, static_cast<size_t>(end - at));
    if (::madvise(reinterpret_cast<void*>(at), size, MADV_WILLNEED) < 0) {
      return posix_status(errno, "ask for", "mapped bytes");
    }
  }
  return {};
}

} // namespace

std::shared_ptr<FileSystem> posix_file_system() {
  static const auto instance = std::make_shared<PosixFileSystem>();
  return instance;
}

} // namespace holdfast
