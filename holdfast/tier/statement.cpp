// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/statement.h"

#include <tuple>

#include <sqlite3.h>

namespace holdfast {

namespace {

ErrorCode code_of(int sqlite_code) {
  if (sqlite_code == SQLITE_IOERR_DATA) {
    return ErrorCode::kCorrupt;
  }
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::kOutOfBudget;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // Rows contradict what is written by them.
    case SQLITE_CONSTRAINT:
      return ErrorCode::kCorrupt;
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return ErrorCode::kInternal;
    default:
      return ErrorCode::kIo;
  }
}

} // namespace

Database::Database(SqliteVfs& vfs, const std::string& path)
    : vfs_(vfs), path_(path) {
  std::ignore = vfs_.take_error();
  const int code = sqlite3_open_v2(
      path.c_str(),
      &handle_,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
          SQLITE_OPEN_PRIVATECACHE,
      vfs.name().c_str());
  if (code != SQLITE_OK) {
    sqlite3_close_v2(handle_);
    const Status status = vfs_.take_error();
    throw ManifestError(
        code_of(code),
        path + ": " + (status.ok() ? sqlite3_errstr(code) : status.text()));
  }
  sqlite3_extended_result_codes(handle_, 1);
}

Database::~Database() {
  for (const auto& [sql, statement] : prepared_) {
    sqlite3_finalize(statement);
  }
  sqlite3_close_v2(handle_);
}

void Database::fail(std::string_view what, int code) {
  const Status status = vfs_.take_error();
  std::string text = path_ + ": " + std::string(what.substr(0, 60)) + ": " +
      (status.ok() ? sqlite3_errmsg(handle_) : status.text());
  throw ManifestError(code_of(code), text);
}

void Database::run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    fail(sql, sqlite3_extended_errcode(handle_));
  }
}

int64_t Database::number(const char* sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const char* sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.text(0) : std::string();
}

Statement Database::prepare(std::string_view sql) {
  auto place = prepared_.find(sql);
  if (place == prepared_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(
        handle_,
        sql.data(),
        static_cast<int>(sql.size()),
        SQLITE_PREPARE_PERSISTENT,
        &statement,
        nullptr);
    if (code != SQLITE_OK) {
      fail(sql, code);
    }
    place = prepared_.emplace(std::string(sql), statement).first;
  }
  if (sqlite3_stmt_busy(place->second)) {
    throw Error(
        ErrorCode::kInternal,
        "[Database] expected one use of a statement at a time, got two of " +
            std::string(sql));
  }
  return Statement(*this, place->second);
}

int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

bool Database::idle() const {
  return sqlite3_get_autocommit(handle_) != 0;
}

void Database::reserve(int bytes) {
  const int code =
      sqlite3_file_control(handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  if (code != SQLITE_OK) {
    fail("reserved bytes", code);
  }
}

Statement::~Statement() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::check(int code) {
  if (code == SQLITE_ERROR) {
    // Values that a sum has no place for.
    throw ManifestError(
        ErrorCode::kCorrupt,
        database_.path_ + ": " + sqlite3_errmsg(database_.handle_));
  }
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
    database_.fail(sqlite3_sql(statement_), code);
  }
}

Statement& Statement::bind(int64_t value) {
  check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::bind_null() {
  check(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // A length alone makes a value, also of zero bytes.
  check(sqlite3_bind_text64(
      statement_,
      ++bound_,
      text.empty() ? "" : text.data(),
      text.size(),
      SQLITE_TRANSIENT,
      SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> bytes) {
  check(sqlite3_bind_blob64(
      statement_,
      ++bound_,
      bytes.empty() ? static_cast<const void*>("") : bytes.data(),
      bytes.size(),
      SQLITE_TRANSIENT));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  check(code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_);
  bound_ = 0;
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string Statement::text(int column) const {
  const auto* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data
      ? std::string(static_cast<const char*>(data), static_cast<size_t>(size))
      : std::string();
}

std::span<const std::byte> Statement::bytes(int column) const {
  const auto* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const std::byte*>(data), static_cast<size_t>(size)};
}

ManifestTransaction::ManifestTransaction(Database& database)
    : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

ManifestTransaction::~ManifestTransaction() {
  if (open_ && !database_.idle()) {
    try {
      database_.run("ROLLBACK");
    } catch (const Error&) {
      // The journal stays hot: whoever reads next rolls back. See idle().
    }
  }
}

void ManifestTransaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

ManifestSavepoint::ManifestSavepoint(Database& database) : database_(database) {
  database_.run("SAVEPOINT part");
}

void ManifestSavepoint::keep() {
  database_.run("RELEASE part");
}

void ManifestSavepoint::undo() {
  database_.run("ROLLBACK TO part");
  database_.run("RELEASE part");
}

} // namespace holdfast
