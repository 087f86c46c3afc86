// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/manifest.h"

#include <algorithm>
#include <random>
#include <utility>

#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/segment_table.h"

namespace holdfast {

namespace {

constexpr int64_t kApplication = 0x486f4661; // "HoFa"
constexpr int64_t kNsPerDay = int64_t{86400} * 1000000000;

// Tables; docs/manifest.md says what each column means.
constexpr const char* kSchema = R"sql(
CREATE TABLE scopes(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  text BLOB NOT NULL UNIQUE);
CREATE TABLE segments(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  writer INTEGER NOT NULL,
  number INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  extents INTEGER NOT NULL,
  live INTEGER NOT NULL,
  holes INTEGER NOT NULL,
  erase INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE(writer, number));
CREATE TABLE nodes(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope INTEGER NOT NULL REFERENCES scopes(id),
  parent INTEGER REFERENCES nodes(id),
  key BLOB NOT NULL,
  tokens BLOB NOT NULL,
  marks BLOB NOT NULL,
  children INTEGER NOT NULL,
  tick INTEGER NOT NULL,
  used_ns INTEGER NOT NULL,
  uses INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL);
CREATE INDEX nodes_by_key ON nodes(scope, key);
CREATE INDEX nodes_by_parent ON nodes(parent);
CREATE INDEX leaves ON nodes(tick) WHERE children = 0;
CREATE TABLE images(
  node INTEGER NOT NULL REFERENCES nodes(id),
  layer_group INTEGER NOT NULL,
  phase INTEGER NOT NULL,
  segment INTEGER NOT NULL REFERENCES segments(id),
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY(node, layer_group, phase)) WITHOUT ROWID;
CREATE UNIQUE INDEX images_by_place ON images(segment, offset);
CREATE TABLE records(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  space BLOB NOT NULL,
  name BLOB NOT NULL,
  scope INTEGER NOT NULL REFERENCES scopes(id),
  version INTEGER NOT NULL,
  leaf INTEGER REFERENCES nodes(id),
  length INTEGER NOT NULL,
  segment INTEGER REFERENCES segments(id),
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  stored_ns INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL,
  UNIQUE(space, name));
CREATE INDEX records_by_leaf ON records(leaf);
CREATE UNIQUE INDEX records_by_place ON records(segment, offset);
CREATE TABLE objects(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  space BLOB NOT NULL,
  key BLOB NOT NULL,
  segment INTEGER NOT NULL REFERENCES segments(id),
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  tick INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL,
  UNIQUE(space, key));
CREATE UNIQUE INDEX objects_by_place ON objects(segment, offset);
CREATE TABLE written(day INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL)
  WITHOUT ROWID;
INSERT INTO counters VALUES('tick', 0);
)sql";

const char* name_of(Manifest::Counter counter) {
  return counter == Manifest::Counter::kStored ? "tokens" : "served";
}

/// A damaged manifest may hold any number.
Bytes possible_bytes(int64_t stored) {
  return Bytes(std::clamp(stored, int64_t{0}, kMostBytes));
}

} // namespace

Manifest::Manifest(
    std::shared_ptr<FileSystem> files,
    std::shared_ptr<Clock> clock,
    const std::string& path,
    Check check)
    : files_(std::move(files)),
      clock_(std::move(clock)),
      path_(path),
      vfs_(files_, clock_),
      database_(vfs_, path_) {
  // Before the first page is made.
  database_.reserve(kDatabaseReserved);
  database_.run("PRAGMA page_size=4096");
  database_.run("PRAGMA locking_mode=NORMAL");
  database_.run("PRAGMA temp_store=MEMORY");
  database_.run("PRAGMA mmap_size=0");
  database_.run("PRAGMA journal_mode=TRUNCATE");
  database_.run("PRAGMA synchronous=EXTRA");
  database_.run("PRAGMA secure_delete=ON");
  database_.run("PRAGMA foreign_keys=ON");
  database_.run("PRAGMA cache_size=-16384");
  const bool is_new = database_.number("PRAGMA schema_version") == 0;
  if (is_new) {
    create_schema();
  }
  check_schema();
  if (check == Check::kThorough && !is_new) {
    const std::string complaint = integrity();
    if (!complaint.empty()) {
      throw ManifestError(ErrorCode::kCorrupt, path_ + ": " + complaint);
    }
    repair_counts(database_);
  }
  const Result<FileFacts> facts = files_->facts(path_);
  facts.status().check();
  device_ = facts.value().device;
  inode_ = facts.value().inode;
}

void Manifest::create_schema() {
  // Of a manifest that is there this would be a write at each opening.
  database_.run("PRAGMA auto_vacuum=INCREMENTAL");
  ManifestTransaction transaction(database_);
  database_.run(kSchema);
  // 2^20 to 2^60, far from any other's; rows are counted on from there.
  std::random_device device;
  const int64_t base =
      ((int64_t{device() & 0x3fffffff} << 8 | (device() & 0xff)) + 1) << 20;
  for (const char* table :
       {"scopes", "segments", "nodes", "records", "objects"}) {
    database_.prepare("INSERT INTO sqlite_sequence(name, seq) VALUES(?, ?)")
        .bind(table)
        .bind(base)
        .run();
  }
  database_.run(
      ("PRAGMA application_id=" + std::to_string(kApplication)).c_str());
  set_version();
  transaction.commit();
}

void Manifest::set_version() {
  database_.run(
      ("PRAGMA user_version=" + std::to_string(kManifestVersion)).c_str());
}

void Manifest::check_schema() {
  if (database_.number("PRAGMA application_id") != kApplication) {
    throw ManifestError(
        ErrorCode::kCorrupt,
        path_ + ": expected a manifest, got another database");
  }
  const int64_t version = database_.number("PRAGMA user_version");
  if (version == 1) {
    migrate_from_1();
  } else if (version != kManifestVersion) {
    throw ManifestError(
        ErrorCode::kUnsupported,
        path_ + ": expected a manifest of version " +
            std::to_string(kManifestVersion) + ", got " +
            std::to_string(version) +
            ": another version of holdfast keeps state there, which stays as "
            "it is");
  }
}

// Version 1 did not remember which dead bytes were forgotten: all of them.
void Manifest::migrate_from_1() {
  ManifestTransaction transaction(database_);
  database_.run(
      "ALTER TABLE segments ADD COLUMN erase INTEGER NOT NULL DEFAULT 0");
  erase_dead(database_);
  set_version();
  transaction.commit();
}

bool Manifest::is_current() const {
  const Result<FileFacts> facts = files_->facts(path_);
  return facts.ok() && facts.value().device == device_ &&
      facts.value().inode == inode_;
}

ScopeId Manifest::find_scope(const ScopeText& text) {
  Statement find = database_.prepare("SELECT id FROM scopes WHERE text = ?");
  find.bind(std::as_bytes(std::span(text.text)));
  return ScopeId(find.step() ? find.integer(0) : 0);
}

ScopeId Manifest::add_scope(const ScopeText& text) {
  database_.prepare("INSERT INTO scopes(text) VALUES(?)")
      .bind(std::as_bytes(std::span(text.text)))
      .run();
  return ScopeId(database_.last_id());
}

bool Manifest::has_scope(ScopeId id) {
  Statement find = database_.prepare("SELECT 1 FROM scopes WHERE id = ?");
  return find.bind(id.get()).step();
}

int64_t Manifest::tick() {
  return database_.number("SELECT value FROM counters WHERE name = 'tick'");
}

int64_t Manifest::next_tick() {
  database_.run("UPDATE counters SET value = value + 1 WHERE name = 'tick'");
  return tick();
}

int64_t Manifest::today() const {
  return clock_->wall_ns() / kNsPerDay;
}

void Manifest::count_written(Bytes beside) {
  counting_ = vfs_.written() + kCommit;
  database_
      .prepare(
          "INSERT INTO written(day, bytes) VALUES(?, ?) "
          "ON CONFLICT(day) DO UPDATE SET bytes = bytes + excluded.bytes")
      .bind(today())
      .bind((beside + counting_ - counted_).get())
      .run();
}

void Manifest::counted() {
  counted_ = counting_;
}

void Manifest::add_to(Counter counter, int64_t more) {
  database_
      .prepare(
          "INSERT INTO counters(name, value) VALUES(?, ?) "
          "ON CONFLICT(name) DO UPDATE SET value = value + excluded.value")
      .bind(name_of(counter))
      .bind(more)
      .run();
}

int64_t Manifest::value_of(Counter counter) {
  Statement find =
      database_.prepare("SELECT value FROM counters WHERE name = ?");
  return find.bind(name_of(counter)).step() ? find.integer(0) : 0;
}

Bytes Manifest::written_today() {
  Statement find = database_.prepare("SELECT bytes FROM written WHERE day = ?");
  return possible_bytes(find.bind(today()).step() ? find.integer(0) : 0);
}

Bytes Manifest::written_total() {
  return possible_bytes(
      database_.number("SELECT CAST(total(bytes) AS INTEGER) FROM written"));
}

std::string Manifest::integrity() {
  const std::string complaint = database_.text("PRAGMA integrity_check(1)");
  if (complaint != "ok") {
    return complaint;
  }
  Statement keys = database_.prepare("PRAGMA foreign_key_check");
  return keys.step() ? "a row of " + keys.text(0) + " refers to nothing"
                     : first_row_fault(database_);
}

void Manifest::shrink() {
  const int64_t pages = database_.number("PRAGMA page_count");
  const int64_t free = database_.number("PRAGMA freelist_count");
  if (free > 64 && free > pages / 4) {
    database_.run("PRAGMA incremental_vacuum");
  }
}

} // namespace holdfast
