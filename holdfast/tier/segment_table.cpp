// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/segment_table.h"

#include "holdfast/base/bits.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/node_table.h"

namespace holdfast {

namespace {

// SQLite's integers are signed.
int64_t as_signed(uint64_t value) {
  return static_cast<int64_t>(value);
}

SegmentRow row_of(const Statement& row) {
  const int64_t bytes = row.integer(3);
  const int64_t extents = row.integer(4);
  const auto part = [&](int column) {
    return row.integer(column) >= 0 && row.integer(column) <= extents;
  };
  require_row(
      bytes >= 2 * kSegmentPage && bytes <= kMostBytes && extents >= 0 &&
          extents <= bytes - 2 * kSegmentPage && part(5) && part(6),
      "a segment that holds its extents, and they what is live");
  return {
      .id = SegmentId(row.integer(0)),
      .identity =
          {static_cast<uint64_t>(row.integer(1)),
           static_cast<uint64_t>(row.integer(2))},
      .bytes = Bytes(bytes),
      .extents = Bytes(extents),
      .live = Bytes(row.integer(5)),
      .holes = Bytes(row.integer(6)),
      .erase = row.integer(7) != 0,
      .checksum = static_cast<uint64_t>(row.integer(8))};
}

std::vector<SegmentRow> rows_of(Database& database, const char* sql) {
  std::vector<SegmentRow> rows;
  Statement statement = database.prepare(sql);
  while (statement.step()) {
    rows.push_back(row_of(statement));
  }
  return rows;
}

void change_live(Database& database, SegmentId id, int64_t bytes) {
  database.prepare("UPDATE segments SET live = live + ? WHERE id = ?")
      .bind(bytes)
      .bind(id.get())
      .run();
}

} // namespace

Bytes whole_pages(Bytes bytes) {
  return Bytes(round_up(bytes.get(), kSegmentPage));
}

SegmentId add_segment(Database& database, const SegmentRow& row) {
  database
      .prepare(
          "INSERT INTO segments(writer, number, bytes, extents, live, "
          "holes, erase, checksum) VALUES(?, ?, ?, ?, ?, ?, 0, ?)")
      .bind(as_signed(row.identity.writer))
      .bind(as_signed(row.identity.number))
      .bind(row.bytes.get())
      .bind(row.extents.get())
      .bind(row.live.get())
      .bind(row.holes.get())
      .bind(as_signed(row.checksum))
      .run();
  return SegmentId(database.last_id());
}

std::optional<SegmentRow> find_segment(Database& database, SegmentId id) {
  Statement find = database.prepare(
      "SELECT id, writer, number, bytes, extents, live, holes, erase, "
      "checksum FROM segments WHERE id = ?");
  return find.bind(id.get()).step() ? std::optional(row_of(find))
                                    : std::nullopt;
}

std::optional<SegmentRow>
find_segment(Database& database, SegmentIdentity identity) {
  Statement find = database.prepare(
      "SELECT id, writer, number, bytes, extents, live, holes, erase, "
      "checksum FROM segments WHERE writer = ? AND number = ?");
  find.bind(as_signed(identity.writer)).bind(as_signed(identity.number));
  return find.step() ? std::optional(row_of(find)) : std::nullopt;
}

std::optional<SegmentIdentity> find_identity(Database& database, SegmentId id) {
  Statement find =
      database.prepare("SELECT writer, number FROM segments WHERE id = ?");
  if (!find.bind(id.get()).step()) {
    return std::nullopt;
  }
  return SegmentIdentity{
      static_cast<uint64_t>(find.integer(0)),
      static_cast<uint64_t>(find.integer(1))};
}

std::vector<SegmentRow> all_segments(Database& database) {
  return rows_of(
      database,
      "SELECT id, writer, number, bytes, extents, live, holes, erase, "
      "checksum FROM segments ORDER BY id");
}

std::vector<SegmentRow> segments_with_dead(Database& database) {
  return rows_of(
      database,
      "SELECT id, writer, number, bytes, extents, live, holes, erase, "
      "checksum FROM segments WHERE live = 0 OR live + holes < extents ORDER "
      "BY id");
}

void set_holes(Database& database, SegmentId id, Bytes holes) {
  database.prepare("UPDATE segments SET holes = ? WHERE id = ?")
      .bind(holes.get())
      .bind(id.get())
      .run();
}

void erase_dead(Database& database) {
  database.run(
      "UPDATE segments SET erase = 1 WHERE live = 0 OR live + holes < extents");
}

DeadBytes dead_bytes(Database& database) {
  Statement sums = database.prepare(
      "SELECT coalesce(sum(extents - live - holes), 0), "
      "coalesce(sum((extents - live - holes) * erase), 0) FROM segments");
  sums.step();
  return {Bytes(sums.integer(0)), Bytes(sums.integer(1))};
}

void set_erased(Database& database, SegmentId id) {
  database.prepare("UPDATE segments SET erase = 0 WHERE id = ?")
      .bind(id.get())
      .run();
}

void remove_segment(Database& database, SegmentId id) {
  database.prepare("DELETE FROM segments WHERE id = ?").bind(id.get()).run();
}

Bytes segment_bytes(Database& database) {
  return Bytes(
      database.number("SELECT coalesce(sum(bytes - holes), 0) FROM segments"));
}

void add_live(Database& database, const Extent& extent) {
  change_live(database, extent.segment, whole_pages(extent.bytes).get());
}

void drop_live(Database& database, const Extent& extent) {
  change_live(database, extent.segment, -whole_pages(extent.bytes).get());
}

void count_live(Database& database, SegmentId id) {
  Bytes live;
  for (const NamedExtent& named : named_extents(database, id)) {
    live += whole_pages(named.extent.bytes);
  }
  database.prepare("UPDATE segments SET live = ?1 WHERE id = ?2 AND live != ?1")
      .bind(live.get())
      .bind(id.get())
      .run();
}

std::vector<NamedExtent> named_extents(Database& database, SegmentId id) {
  std::vector<NamedExtent> named;
  Statement find = database.prepare(
      "SELECT i.segment, i.offset, i.bytes, 1, i.layer_group, i.phase, n.key, "
      "length(n.tokens) / 4 FROM images AS i LEFT JOIN nodes AS n "
      "ON n.id = i.node WHERE i.segment = ?1 "
      "UNION ALL SELECT segment, offset, bytes, 2, 0, 0, NULL, 0 FROM records "
      "WHERE segment = ?1 "
      "UNION ALL SELECT segment, offset, bytes, 3, 0, 0, NULL, 0 FROM objects "
      "WHERE segment = ?1 ORDER BY 2, 4");
  find.bind(id.get());
  while (find.step()) {
    NamedExtent& extent = named.emplace_back();
    extent.extent = extent_in(find, 0);
    extent.type = static_cast<ExtentType>(find.integer(3));
    if (extent.type == ExtentType::kImage) {
      extent.slot = slot_in(find, 4);
      if (!find.is_null(6)) {
        extent.key = unpacked_key(find.bytes(6));
        extent.positions = find.integer(7);
      }
    }
  }
  return named;
}

} // namespace holdfast
