// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// SQLite's way to files, over FileSystem, so that what is tested against power
// loss and failing calls is what runs.
//
// Pages of a database end with a checksum of their bytes and number (8 bytes,
// reserved in the file header), so a damaged page is an error and never an
// answer. Locks are the caller's: every access runs under a lock of its own.
// Threads: one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "holdfast/base/status.h"
#include "holdfast/base/strong.h"
#include "holdfast/env/clock.h"
#include "holdfast/env/file_system.h"

struct sqlite3_vfs;

namespace holdfast {

inline constexpr int kDatabasePage = 4096;
/// Of each page, at its end: its checksum.
inline constexpr int kDatabaseReserved = 8;

class SqliteVfs {
 public:
  SqliteVfs(std::shared_ptr<FileSystem> files, std::shared_ptr<Clock> clock);
  /// After the last connection is closed.
  ~SqliteVfs();
  SqliteVfs(const SqliteVfs&) = delete;
  SqliteVfs& operator=(const SqliteVfs&) = delete;

  /// For sqlite3_open_v2.
  const std::string& name() const {
    return name_;
  }
  /// The last error of the file system, or ok; taking it clears it.
  Status take_error();
  /// By all connections, databases and journals.
  Bytes written() const {
    return written_;
  }

  // For the functions behind the interface.
  FileSystem& files() {
    return *files_;
  }
  Clock& clock() {
    return *clock_;
  }
  /// Remembers an error and returns `code`, or SQLITE_FULL where there is no
  /// room.
  int failed(const Status& status, int code);
  void count_written(Bytes bytes) {
    written_ += bytes;
  }
  /// Makes the name of a file durable, once: also of one that was there before,
  /// for who made it may not have come so far.
  Status sync_name(const std::string& path);
  /// The file was made anew, or removed.
  void forget_name(const std::string& path) {
    durable_names_.erase(path);
  }

 private:
  const std::shared_ptr<FileSystem> files_;
  const std::shared_ptr<Clock> clock_;
  const std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  Status error_;
  Bytes written_;
  std::set<std::string> durable_names_;
};

/// Writes the checksum of a page into its last 8 bytes. Numbers start at 1.
void seal_database_page(std::span<std::byte> page, uint32_t number);
bool database_page_is_whole(std::span<const std::byte> page, uint32_t number);

} // namespace holdfast
