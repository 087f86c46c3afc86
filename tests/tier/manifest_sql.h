// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// For tests: the manifest of "/state" as a program that is wrong would leave
// it, changed by SQL under checksums that are right. No tier has it open.
// Threads: one at a time.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "holdfast/env/manual_clock.h"
#include "holdfast/tier/sqlite_vfs.h"
#include "holdfast/tier/statement.h"

namespace holdfast::test {

/// Over the tier's own VFS, and without what would refuse the change.
inline void
run_sql(const std::shared_ptr<FileSystem>& files, const std::string& sql) {
  SqliteVfs vfs(files, std::make_shared<ManualClock>());
  Database database(vfs, "/state/manifest.db");
  database.run("PRAGMA foreign_keys=OFF");
  database.run("PRAGMA writable_schema=ON");
  database.run(sql.c_str());
}

/// The first column of each row.
inline std::vector<std::string>
sql_texts(const std::shared_ptr<FileSystem>& files, const std::string& sql) {
  SqliteVfs vfs(files, std::make_shared<ManualClock>());
  Database database(vfs, "/state/manifest.db");
  std::vector<std::string> result;
  Statement rows = database.prepare(sql);
  while (rows.step()) {
    result.push_back(rows.text(0));
  }
  return result;
}

} // namespace holdfast::test
