// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/sqlite_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <utility>

#include <sqlite3.h>

#include "holdfast/tier/paths.h"
#include "holdfast/tier/sqlite_file.h"

namespace holdfast {

namespace {

SqliteVfs& self(sqlite3_vfs* vfs) {
  return *static_cast<SqliteVfs*>(vfs->pAppData);
}

int vfs_open(
    sqlite3_vfs* vfs,
    const char* path,
    sqlite3_file* file,
    int flags,
    int* out_flags) {
  file->pMethods = nullptr;
  SqliteVfs& owner = self(vfs);
  // Temporary files stay in memory (temp_store): none has a name here.
  if (path == nullptr) {
    return owner.failed(
        Status(ErrorCode::kInternal, "[SqliteVfs] expected a named file"),
        SQLITE_CANTOPEN);
  }
  if (out_flags) {
    *out_flags = flags;
  }
  return open_sqlite_file(owner, path, file, flags);
}

int vfs_delete(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  SqliteVfs& owner = self(vfs);
  Status status = owner.files().remove(path);
  if (status.code() == ErrorCode::kNotFound) {
    return SQLITE_IOERR_DELETE_NOENT;
  }
  if (!status.ok()) {
    return owner.failed(status, SQLITE_IOERR_DELETE);
  }
  owner.forget_name(path);
  if (sync_folder) {
    status = owner.files().sync_folder(folder_of_path(path));
    if (!status.ok()) {
      return owner.failed(status, SQLITE_IOERR_DIR_FSYNC);
    }
  }
  return SQLITE_OK;
}

int vfs_access(sqlite3_vfs* vfs, const char* path, int, int* result) {
  const Result<FileFacts> facts = self(vfs).files().facts(path);
  if (!facts.ok() && facts.status().code() != ErrorCode::kNotFound) {
    return self(vfs).failed(facts.status(), SQLITE_IOERR_ACCESS);
  }
  // An empty journal is none, as in SQLite's own.
  *result = facts.ok() && facts.value().size > Bytes(0);
  return SQLITE_OK;
}

int vfs_full_path(sqlite3_vfs*, const char* path, int size, char* out) {
  const size_t length = std::strlen(path) + 1;
  if (length > static_cast<size_t>(size)) {
    return SQLITE_CANTOPEN;
  }
  std::memcpy(out, path, length);
  return SQLITE_OK;
}

int vfs_randomness(sqlite3_vfs*, int size, char* out) {
  std::random_device device;
  std::generate(out, out + size, [&] { return static_cast<char>(device()); });
  return size;
}

int vfs_sleep(sqlite3_vfs*, int) {
  return 0; // nothing waits: locks are the caller's
}

int vfs_time(sqlite3_vfs* vfs, sqlite3_int64* out) {
  constexpr int64_t kJulian1970 = 210866760000000; // ms
  *out = kJulian1970 + self(vfs).clock().wall_ns() / 1000000;
  return SQLITE_OK;
}

int vfs_last_error(sqlite3_vfs*, int, char*) {
  return 0;
}

std::string unique_name() {
  static std::atomic<int64_t> next{0};
  return "holdfast-" + std::to_string(next++);
}

} // namespace

SqliteVfs::SqliteVfs(
    std::shared_ptr<FileSystem> files,
    std::shared_ptr<Clock> clock)
    : files_(std::move(files)),
      clock_(std::move(clock)),
      name_(unique_name()),
      vfs_(std::make_unique<sqlite3_vfs>()) {
  vfs_->iVersion = 2;
  vfs_->szOsFile = sqlite_file_size();
  vfs_->mxPathname = 4096;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = vfs_open;
  vfs_->xDelete = vfs_delete;
  vfs_->xAccess = vfs_access;
  vfs_->xFullPathname = vfs_full_path;
  vfs_->xRandomness = vfs_randomness;
  vfs_->xSleep = vfs_sleep;
  vfs_->xGetLastError = vfs_last_error;
  vfs_->xCurrentTimeInt64 = vfs_time;
  if (sqlite3_vfs_register(vfs_.get(), 0) != SQLITE_OK) {
    throw Error(
        ErrorCode::kInternal, "[SqliteVfs] expected SQLite to take it, got no");
  }
}

SqliteVfs::~SqliteVfs() {
  sqlite3_vfs_unregister(vfs_.get());
}

Status SqliteVfs::take_error() {
  return std::exchange(error_, Status());
}

Status SqliteVfs::sync_name(const std::string& path) {
  if (durable_names_.contains(path)) {
    return Status();
  }
  Status status = files_->sync_folder(folder_of_path(path));
  if (status.ok()) {
    durable_names_.insert(path);
  }
  return status;
}

int SqliteVfs::failed(const Status& status, int code) {
  error_ = status;
  return status.code() == ErrorCode::kOutOfBudget ? SQLITE_FULL : code;
}

} // namespace holdfast
