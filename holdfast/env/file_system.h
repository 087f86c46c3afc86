// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The only door to files and folders that are written: what the system does
// (posix_file_system), the same in memory with power loss (memory_file_system),
// and either with calls that fail (faulty_file_system).
//
// Paths are absolute or relative to the process; slashes at their end mean
// nothing. Nothing here follows a symbolic link in a path's last part. What is
// created is private: files 0600, folders 0700. Errors name the path:
// kNotFound, kIo; kOutOfBudget where no room is left on the device;
// kInvalidArgument for what is no regular file. Threads: all from any thread;
// calls on one File may overlap.
//
// Durability: bytes are safe after File::sync, names (create, rename, remove)
// after sync_folder of their folder, and nothing before.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"

namespace holdfast {

/// What the system says of a file. Times are of the system's clock, in ns.
struct FileFacts {
  enum class Kind { kFile, kFolder, kOther };
  Kind kind = Kind::kOther;
  uint64_t device = 0;
  uint64_t inode = 0;
  Bytes size;
  Bytes allocated; // on the device; holes take none
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  uint32_t mode = 0; // permission bits
  uint32_t owner = 0;
};

/// Bytes of a file, mapped read-only from a page on. They stay as they are when
/// the file is renamed, removed or replaced; they fault where it was cut short
/// (mapping_guard.h) and read zero where it was punched.
using MappedBytes = std::shared_ptr<const std::byte>;

class File {
 public:
  using Pieces = std::span<const std::span<const std::byte>>;
  /// Whether the system shall remember what is written, for who reads it next.
  /// kNo: it may go straight to the device, where place, addresses and lengths
  /// are multiples of 4096.
  enum class Remember { kNo, kYes };

  virtual ~File() = default;

  /// Fills `into` from `offset` on. kCorrupt where the file ends before.
  virtual Status read(Bytes offset, std::span<std::byte> into) const = 0;
  /// Writes all of `from`; the file grows as needed, with zeros between. Where
  /// it fails, some of it may have been written.
  virtual Status write(Bytes offset, std::span<const std::byte> from) = 0;
  virtual Status truncate(Bytes size) = 0;
  /// Returns when the bytes, and the size, are on the device. Where it fails,
  /// what was not there may be lost, and every later sync of this File fails.
  virtual Status sync() = 0;
  /// Gives the device's room for [offset, offset + length) back; it reads as
  /// zeros afterwards. kUnsupported where the file system cannot.
  virtual Status punch(Bytes offset, Bytes length) = 0;
  virtual Result<FileFacts> facts() const = 0;
  /// `offset` is a multiple of 4096, and the range lies within the file
  /// (kCorrupt).
  virtual Result<MappedBytes> map(Bytes offset, Bytes length) const = 0;
  virtual const std::string& path() const = 0;
  /// Writes pieces that follow each other in the file as write() does, at once.
  virtual Status
  write_pieces(Bytes offset, Pieces pieces, Remember remember) = 0;
};

/// Held while it lives; the system lets go of it when the process dies.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class FileSystem {
 public:
  enum class Access { kRead, kReadWrite };
  enum class Wait { kNo, kYes };

  virtual ~FileSystem() = default;

  /// Opens a regular file that exists.
  virtual Result<std::unique_ptr<File>>
  open(const std::string& path, Access access) = 0;
  /// Makes an empty file that did not exist (kInvalidArgument where anything of
  /// that name does), open for reading and writing.
  virtual Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  /// Replaces `to`, in one step, where it exists.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or an empty folder. kNotFound where there is none.
  virtual Status remove(const std::string& path) = 0;
  /// Makes the folder; ok where it exists as a folder.
  virtual Status create_folder(const std::string& path) = 0;
  /// Returns when what was created, renamed and removed in it is on the device.
  virtual Status sync_folder(const std::string& path) = 0;
  /// The names in a folder, without "." and "..", sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  /// Of the name itself, be it a symbolic link.
  virtual Result<FileFacts> facts(const std::string& path) = 0;
  /// Bytes that an ordinary user may still write on the device of `path`.
  virtual Result<Bytes> free_space(const std::string& path) = 0;
  /// An exclusive lock on the file, which is created where it does not exist.
  /// It holds against other processes and other locks of this one. Wait::kNo:
  /// kOutOfBudget where another has it.
  virtual Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) = 0;
  /// Asks for bytes that File::map gave, or a part of them, to be read from the
  /// device: in pieces, many under way at a time; does not wait for them. A
  /// hint: where it fails they are read when they are touched.
  virtual Status will_need(std::span<const std::byte> mapped) = 0;
};

} // namespace holdfast
