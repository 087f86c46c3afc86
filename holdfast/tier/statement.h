// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A SQLite connection and its statements, released by their destructors.
//
// Errors are thrown, for a chain of statements is one thing that works or does
// not: ManifestError with kOutOfBudget (no room), kCorrupt (a damaged
// database), kIo. DiskTier turns them into a Status. Threads: one at a time.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/tier/sqlite_vfs.h"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast {

class Statement;

/// Thrown where SQLite or the file system below it fails.
class ManifestError : public Error {
 public:
  using Error::Error;
};

class Database {
 public:
  /// Opens the file, or makes it.
  Database(SqliteVfs& vfs, const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Statements without parameters and rows.
  void run(const char* sql);
  /// The first column of the first row.
  int64_t number(const char* sql);
  std::string text(const char* sql);
  /// One prepared statement; prepared once, so one at a time of each text.
  Statement prepare(std::string_view sql);
  int64_t last_id() const;
  /// True outside of a transaction.
  bool idle() const;
  /// Of every page, for checksums.
  void reserve(int bytes);

 private:
  friend class Statement;
  [[noreturn]] void fail(std::string_view what, int code);

  SqliteVfs& vfs_;
  const std::string path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> prepared_;
};

class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Values for the parameters, in order.
  Statement& bind(int64_t value);
  Statement& bind_null();
  Statement& bind(std::string_view text);
  Statement& bind(std::span<const std::byte> bytes);

  /// True where there is a row.
  bool step();
  /// Runs to its end, and may be bound again.
  void run();

  int64_t integer(int column) const;
  bool is_null(int column) const;
  std::string text(int column) const;
  /// Until the next step.
  std::span<const std::byte> bytes(int column) const;

 private:
  void check(int code);

  Database& database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

/// Undone unless committed.
class ManifestTransaction {
 public:
  explicit ManifestTransaction(Database& database);
  ~ManifestTransaction();
  ManifestTransaction(const ManifestTransaction&) = delete;
  ManifestTransaction& operator=(const ManifestTransaction&) = delete;
  /// Returns when what was done is durable.
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// Of a transaction, a part that may be undone alone. Where neither is called,
/// or fails, the transaction must not be committed.
class ManifestSavepoint {
 public:
  explicit ManifestSavepoint(Database& database);
  void keep();
  void undo();

 private:
  Database& database_;
};

} // namespace holdfast
