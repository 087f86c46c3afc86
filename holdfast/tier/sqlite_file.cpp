// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/sqlite_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include <sqlite3.h>

#include "holdfast/base/checksum.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/sqlite_vfs.h"

namespace holdfast {

namespace {

using Page = std::array<std::byte, kDatabasePage>;

/// What stands behind a sqlite3_file; its first member is SQLite's.
struct VfsFile {
  sqlite3_file base;
  SqliteVfs* vfs;
  std::unique_ptr<File> file;
  bool database; // pages carry checksums
  bool remove_at_close;
};

VfsFile& self(sqlite3_file* file) {
  return *reinterpret_cast<VfsFile*>(file);
}

bool whole_page(const VfsFile& file, int count, sqlite3_int64 offset) {
  return file.database && count == kDatabasePage && offset % kDatabasePage == 0;
}

/// Bound to its place: a page that went to another's is found out.
uint64_t page_checksum(std::span<const std::byte> bytes, uint32_t number) {
  return checksum(bytes) + number * uint64_t{0x9e3779b97f4a7c15};
}

uint32_t page_number(sqlite3_int64 offset) {
  return static_cast<uint32_t>(offset / kDatabasePage + 1);
}

int file_close(sqlite3_file* base) {
  VfsFile& file = self(base);
  SqliteVfs& vfs = *file.vfs;
  const std::string path = file.file->path();
  const bool remove = file.remove_at_close;
  file.~VfsFile();
  base->pMethods = nullptr;
  if (remove) {
    if (const Status status = vfs.files().remove(path); !status.ok()) {
      return vfs.failed(status, SQLITE_IOERR_DELETE);
    }
  }
  return SQLITE_OK;
}

/// Reads what there is and zeroes the rest, as SQLite expects.
int read_short(VfsFile& file, std::span<std::byte> into, Bytes offset) {
  const Result<FileFacts> facts = file.file->facts();
  if (!facts.ok()) {
    return file.vfs->failed(facts.status(), SQLITE_IOERR_FSTAT);
  }
  std::ranges::fill(into, std::byte{});
  const int64_t there = (facts.value().size - offset).get();
  if (there >= std::ssize(into)) {
    return SQLITE_IOERR_READ; // it is all there, yet could not be read
  }
  if (there > 0) {
    const Status status =
        file.file->read(offset, into.first(static_cast<size_t>(there)));
    if (!status.ok()) {
      return file.vfs->failed(status, SQLITE_IOERR_READ);
    }
  }
  return SQLITE_IOERR_SHORT_READ;
}

int file_read(sqlite3_file* base, void* to, int count, sqlite3_int64 offset) {
  VfsFile& file = self(base);
  const std::span into(static_cast<std::byte*>(to), static_cast<size_t>(count));
  const Status status = file.file->read(Bytes(offset), into);
  if (status.code() == ErrorCode::kCorrupt) {
    return read_short(file, into, Bytes(offset));
  }
  if (!status.ok()) {
    return file.vfs->failed(status, SQLITE_IOERR_READ);
  }
  if (whole_page(file, count, offset)) {
    if (!database_page_is_whole(into, page_number(offset))) {
      return file.vfs->failed(
          Status(
              ErrorCode::kCorrupt,
              file.file->path() + ": expected page " +
                  std::to_string(page_number(offset)) +
                  " with its checksum, got other bytes"),
          SQLITE_IOERR_DATA);
    }
  } else if (file.database && offset + count > 100) {
    // Parts of the file header are read to look at its size and counter; the
    // page is read whole before it is used. Nothing else comes in parts.
    return file.vfs->failed(
        Status(
            ErrorCode::kCorrupt,
            file.file->path() + ": expected pages of 4096 bytes, got " +
                std::to_string(count)),
        SQLITE_IOERR_DATA);
  }
  return SQLITE_OK;
}

int file_write(
    sqlite3_file* base,
    const void* from,
    int count,
    sqlite3_int64 offset) {
  VfsFile& file = self(base);
  const std::span bytes(
      static_cast<const std::byte*>(from), static_cast<size_t>(count));
  Status status;
  if (file.database) {
    if (!whole_page(file, count, offset)) {
      return file.vfs->failed(
          Status(ErrorCode::kInternal, "[SqliteVfs] expected whole pages"),
          SQLITE_IOERR_WRITE);
    }
    Page page;
    std::memcpy(page.data(), bytes.data(), page.size());
    seal_database_page(page, page_number(offset));
    status = file.file->write(Bytes(offset), page);
  } else {
    status = file.file->write(Bytes(offset), bytes);
  }
  if (!status.ok()) {
    return file.vfs->failed(status, SQLITE_IOERR_WRITE);
  }
  file.vfs->count_written(Bytes(count));
  return SQLITE_OK;
}

int file_truncate(sqlite3_file* base, sqlite3_int64 size) {
  const Status status = self(base).file->truncate(Bytes(size));
  return status.ok() ? SQLITE_OK
                     : self(base).vfs->failed(status, SQLITE_IOERR_TRUNCATE);
}

int file_sync(sqlite3_file* base, int) {
  VfsFile& file = self(base);
  if (const Status status = file.file->sync(); !status.ok()) {
    return file.vfs->failed(status, SQLITE_IOERR_FSYNC);
  }
  const Status status = file.vfs->sync_name(file.file->path());
  return status.ok() ? SQLITE_OK
                     : file.vfs->failed(status, SQLITE_IOERR_DIR_FSYNC);
}

int file_size(sqlite3_file* base, sqlite3_int64* out) {
  const Result<FileFacts> facts = self(base).file->facts();
  if (!facts.ok()) {
    return self(base).vfs->failed(facts.status(), SQLITE_IOERR_FSTAT);
  }
  *out = facts.value().size.get();
  return SQLITE_OK;
}

int file_lock(sqlite3_file*, int) {
  return SQLITE_OK;
}

int file_reserved(sqlite3_file*, int* out) {
  *out = 0; // the folder's lock is ours: no other connection is at work
  return SQLITE_OK;
}

int file_control(sqlite3_file*, int, void*) {
  return SQLITE_NOTFOUND;
}

int file_sector(sqlite3_file*) {
  return kDatabasePage;
}

int file_characteristics(sqlite3_file*) {
  return 0; // a write of a page may tear
}

const sqlite3_io_methods* methods() {
  static const sqlite3_io_methods kMethods = [] {
    sqlite3_io_methods m{};
    m.iVersion = 1;
    m.xClose = file_close;
    m.xRead = file_read;
    m.xWrite = file_write;
    m.xTruncate = file_truncate;
    m.xSync = file_sync;
    m.xFileSize = file_size;
    m.xLock = file_lock;
    m.xUnlock = file_lock;
    m.xCheckReservedLock = file_reserved;
    m.xFileControl = file_control;
    m.xSectorSize = file_sector;
    m.xDeviceCharacteristics = file_characteristics;
    return m;
  }();
  return &kMethods;
}

} // namespace

void seal_database_page(std::span<std::byte> page, uint32_t number) {
  const size_t end = page.size() - kDatabaseReserved;
  store_le<uint64_t>(page, end, page_checksum(page.first(end), number));
}

bool database_page_is_whole(std::span<const std::byte> page, uint32_t number) {
  const size_t end = page.size() - kDatabaseReserved;
  return load_le<uint64_t>(page, end) == page_checksum(page.first(end), number);
}

int sqlite_file_size() {
  return sizeof(VfsFile);
}

int open_sqlite_file(
    SqliteVfs& vfs,
    const char* path,
    sqlite3_file* base,
    int flags) {
  const auto access = flags & SQLITE_OPEN_READWRITE
      ? FileSystem::Access::kReadWrite
      : FileSystem::Access::kRead;
  Result<std::unique_ptr<File>> file = vfs.files().open(path, access);
  if (!file.ok() && file.status().code() == ErrorCode::kNotFound &&
      (flags & SQLITE_OPEN_CREATE)) {
    file = vfs.files().create(path);
    vfs.forget_name(path);
  }
  if (!file.ok()) {
    return vfs.failed(file.status(), SQLITE_CANTOPEN);
  }
  new (base) VfsFile{
      .base = {methods()},
      .vfs = &vfs,
      .file = std::move(file).value(),
      .database = (flags & SQLITE_OPEN_MAIN_DB) != 0,
      .remove_at_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0};
  return SQLITE_OK;
}

} // namespace holdfast
