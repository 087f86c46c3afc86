// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the manifest, the only truth about what a folder of
// segments holds; see docs/manifest.md for its schema. Every call runs under
// the folder's lock.
//
// Errors are thrown, as by Database. Ids start at a drawn number, so that those
// of a manifest that was set aside mean nothing in its successor.
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "holdfast/base/strong.h"
#include "holdfast/env/clock.h"
#include "holdfast/env/file_system.h"
#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/statement.h"

namespace holdfast {

inline constexpr int kManifestVersion = 2;

class Manifest {
 public:
  /// Opens the file, or makes it; one of version 1 is brought to this one.
  /// kCorrupt where it is damaged or no manifest, kUnsupported where it is of
  /// another version: it stays as it is. kThorough reads all of it, and counts
  /// again what is counted.
  enum class Check { kSchema, kThorough };
  Manifest(
      std::shared_ptr<FileSystem> files,
      std::shared_ptr<Clock> clock,
      const std::string& path,
      Check check);

  Database& database() {
    return database_;
  }
  /// False where the path names another file by now.
  bool is_current() const;
  /// Of the file that is open.
  uint64_t inode() const {
    return inode_;
  }
  /// False after an error that left it unusable: to be opened again.
  bool is_usable() const {
    return database_.idle();
  }

  /// 0 where there is none.
  ScopeId find_scope(const ScopeText& text);
  ScopeId add_scope(const ScopeText& text);
  bool has_scope(ScopeId id);

  /// A count that grows with every use: recency without a clock.
  int64_t next_tick();
  int64_t tick();

  /// Within a transaction: adds to today's bytes those written `beside` the
  /// manifest, what the manifest has written that nothing counts yet, and what
  /// this commit is taken to write; the next one sets that right. So a process
  /// that dies takes no more of it along than large commits have more.
  void count_written(Bytes beside);
  /// That transaction was committed.
  void counted();
  /// What the manifest has written and nothing counts yet; below 0 where a
  /// commit wrote less than it was taken to.
  Bytes uncounted() const {
    return vfs_.written() - counted_;
  }
  /// What a commit is taken to write: the pages that rows of one text change,
  /// in the journal and in their place.
  static constexpr Bytes kCommit{int64_t{24} * kDatabasePage};
  /// Tokens: stored by all processes of all times, and served by them.
  enum class Counter { kStored, kServed };
  /// Within a transaction.
  void add_to(Counter counter, int64_t more);
  int64_t value_of(Counter counter);
  Bytes written_today();
  Bytes written_total();

  /// Changes when another connection has changed the file.
  int64_t data_version() {
    return database_.number("PRAGMA data_version");
  }
  /// Every page, foreign key, index and row (manifest_check.h): empty where all
  /// is well, else the first complaint.
  std::string integrity();
  /// Gives free pages back where they are many.
  void shrink();

 private:
  void create_schema();
  void check_schema();
  void migrate_from_1();
  void set_version();
  int64_t today() const;

  const std::shared_ptr<FileSystem> files_;
  const std::shared_ptr<Clock> clock_;
  const std::string path_;
  SqliteVfs vfs_;
  Database database_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  Bytes counted_; // of vfs_.written(), or what it was taken to become
  Bytes counting_; // the same once the transaction is committed
};

} // namespace holdfast
