// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/record_table.h"

#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/segment_table.h"

namespace holdfast {

namespace {

StoredRecord record_of(const Statement& row) {
  StoredRecord record;
  record.name = {row.text(0), row.text(1)};
  record.scope = ScopeId(row.integer(2));
  record.version = static_cast<uint64_t>(row.integer(3));
  record.leaf = NodeId(row.integer(4)); // NULL reads as 0
  record.length = Position(row.integer(5));
  require_row(
      record.length >= Position() &&
          (record.leaf == NodeId()) == (record.length == Position()),
      "a record with a leaf, or of no tokens");
  require_row(
      row.is_null(6) == (row.integer(8) == 0), "a record's body in a segment");
  if (!row.is_null(6)) {
    record.body = extent_in(row, 6);
  }
  record.body_lost = row.is_null(6) && row.integer(7) != 0;
  record.stored_ns = row.integer(9);
  record.pinned = row.integer(10) != 0;
  record.expires_ns = row.integer(11);
  return record;
}

std::vector<StoredRecord> rest_of(Statement& rows) {
  std::vector<StoredRecord> records;
  while (rows.step()) {
    records.push_back(record_of(rows));
  }
  return records;
}

void set_leaf(Database& database, const StoredRecord& record) {
  database
      .prepare(
          "UPDATE records SET leaf = nullif(?, 0) WHERE space = ? AND name = ?")
      .bind(record.leaf.get())
      .bind(bytes_of_text(record.name.space))
      .bind(bytes_of_text(record.name.name))
      .run();
}

} // namespace

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::optional<StoredRecord>
find_record(Database& database, const RecordName& name) {
  Statement find = database.prepare(
      "SELECT space, name, scope, version, leaf, length, segment, offset, "
      "bytes, stored_ns, pinned, expires_ns FROM records "
      "WHERE space = ? AND name = ?");
  find.bind(bytes_of_text(name.space)).bind(bytes_of_text(name.name));
  return find.step() ? std::optional(record_of(find)) : std::nullopt;
}

std::vector<StoredRecord>
all_records(Database& database, const std::string_view* space) {
  if (!space) {
    Statement find = database.prepare(
        "SELECT space, name, scope, version, leaf, length, segment, offset, "
        "bytes, stored_ns, pinned, expires_ns FROM records "
        "ORDER BY space, name");
    return rest_of(find);
  }
  Statement find = database.prepare(
      "SELECT space, name, scope, version, leaf, length, segment, offset, "
      "bytes, stored_ns, pinned, expires_ns FROM records "
      "WHERE space = ? ORDER BY name");
  find.bind(bytes_of_text(*space));
  return rest_of(find);
}

bool is_over(const StoredRecord& record, int64_t wall_ns) {
  return !record.pinned && record.expires_ns != 0 &&
      record.expires_ns <= wall_ns;
}

std::vector<RecordName> records_over(Database& database, int64_t wall_ns) {
  std::vector<RecordName> names;
  Statement find = database.prepare(
      "SELECT space, name FROM records "
      "WHERE pinned = 0 AND expires_ns != 0 AND expires_ns <= ?");
  find.bind(wall_ns);
  while (find.step()) {
    names.push_back({find.text(0), find.text(1)});
  }
  return names;
}

std::vector<StoredRecord> bodies_alone(Database& database) {
  // A body that is stored again lies in a new segment.
  Statement find = database.prepare(
      "SELECT space, name, scope, version, leaf, length, segment, offset, "
      "bytes, stored_ns, pinned, expires_ns FROM records "
      "WHERE leaf IS NULL AND segment IS NOT NULL AND pinned = 0 "
      "ORDER BY segment, offset");
  return rest_of(find);
}

std::vector<RecordName> records_on(Database& database, NodeId leaf) {
  std::vector<RecordName> names;
  Statement find =
      database.prepare("SELECT space, name FROM records WHERE leaf = ?");
  find.bind(leaf.get());
  while (find.step()) {
    names.push_back({find.text(0), find.text(1)});
  }
  return names;
}

bool pinned_record_on(Database& database, NodeId leaf) {
  Statement find =
      database.prepare("SELECT 1 FROM records WHERE leaf = ? AND pinned != 0");
  return find.bind(leaf.get()).step();
}

std::optional<RecordName> record_at(Database& database, const Extent& extent) {
  Statement find = database.prepare(
      "SELECT space, name FROM records "
      "WHERE segment = ? AND offset = ? AND bytes = ?");
  find.bind(extent.segment.get())
      .bind(extent.offset.get())
      .bind(extent.bytes.get());
  return find.step() ? std::optional(RecordName{find.text(0), find.text(1)})
                     : std::nullopt;
}

void put_record_row(Database& database, const StoredRecord& record) {
  const auto old = find_record(database, record.name);
  const bool has_body = record.body.bytes > Bytes();
  // A row that is there keeps its id and, where it can, its leaf: then the
  // indices over them are not written again.
  Statement put = database.prepare(
      old ? "UPDATE records SET scope = ?3, version = ?4, length = ?5, "
            "segment = nullif(?6, 0), offset = ?7, bytes = ?8, "
            "stored_ns = ?9, pinned = ?10, expires_ns = ?11 "
            "WHERE space = ?1 AND name = ?2"
          : "INSERT INTO records(space, name, scope, version, length, "
            "segment, offset, bytes, stored_ns, pinned, expires_ns) "
            "VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, ?8, ?9, ?10, ?11)");
  put.bind(bytes_of_text(record.name.space))
      .bind(bytes_of_text(record.name.name))
      .bind(record.scope.get())
      .bind(static_cast<int64_t>(record.version))
      .bind(record.length.get())
      .bind(has_body ? record.body.segment.get() : 0)
      .bind(record.body.offset.get())
      .bind(record.body.bytes.get())
      .bind(record.stored_ns)
      .bind(int64_t{record.pinned})
      .bind(record.expires_ns)
      .run();
  if (record.leaf != (old ? old->leaf : NodeId())) {
    set_leaf(database, record);
  }
  if (old && old->body.bytes > Bytes()) {
    drop_live(database, old->body);
  }
  if (has_body) {
    add_live(database, record.body);
  }
}

void pin_record_row(Database& database, const RecordName& name, bool pinned) {
  database.prepare("UPDATE records SET pinned = ? WHERE space = ? AND name = ?")
      .bind(int64_t{pinned})
      .bind(bytes_of_text(name.space))
      .bind(bytes_of_text(name.name))
      .run();
}

void remove_record_row(Database& database, const RecordName& name) {
  const std::optional<StoredRecord> record = find_record(database, name);
  if (!record) {
    return;
  }
  database.prepare("DELETE FROM records WHERE space = ? AND name = ?")
      .bind(bytes_of_text(name.space))
      .bind(bytes_of_text(name.name))
      .run();
  if (record->body.bytes > Bytes()) {
    drop_live(database, record->body);
  }
}

void lose_record_body(Database& database, const RecordName& name) {
  const std::optional<StoredRecord> record = find_record(database, name);
  if (!record || record->body.bytes == Bytes()) {
    return;
  }
  database
      .prepare(
          "UPDATE records SET segment = NULL, offset = 1, bytes = 0 "
          "WHERE space = ? AND name = ?")
      .bind(bytes_of_text(name.space))
      .bind(bytes_of_text(name.name))
      .run();
  drop_live(database, record->body);
}

void move_records(Database& database, NodeId from, NodeId to) {
  database.prepare("UPDATE records SET leaf = ? WHERE leaf = ?")
      .bind(to.get())
      .bind(from.get())
      .run();
}

} // namespace holdfast
