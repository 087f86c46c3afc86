// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to SqliteVfs: one open file as SQLite sees it. Threads: one at a
// time.

#pragma once

#include <string>

struct sqlite3_file;

namespace holdfast {

class SqliteVfs;

/// Room for what open_sqlite_file makes.
int sqlite_file_size();
/// An SQLite result code.
int open_sqlite_file(
    SqliteVfs& vfs,
    const char* path,
    sqlite3_file* file,
    int flags);

} // namespace holdfast
