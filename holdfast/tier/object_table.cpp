// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/object_table.h"

#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/record_table.h"
#include "holdfast/tier/segment_table.h"

namespace holdfast {

namespace {

ObjectRow row_of(const Statement& row) {
  return {
      .id = row.integer(0),
      .extent = extent_in(row, 1),
      .tick = row.integer(4),
      .cost = row.integer(5),
      .expires_ns = row.integer(6)};
}

std::vector<ObjectRow> rest_of(Statement& rows) {
  std::vector<ObjectRow> objects;
  while (rows.step()) {
    objects.push_back(row_of(rows));
  }
  return objects;
}

} // namespace

std::optional<ObjectRow>
find_object(Database& database, std::string_view space, std::string_view key) {
  Statement find = database.prepare(
      "SELECT id, segment, offset, bytes, tick, cost, expires_ns FROM objects "
      "WHERE space = ? AND key = ?");
  find.bind(bytes_of_text(space)).bind(bytes_of_text(key));
  return find.step() ? std::optional(row_of(find)) : std::nullopt;
}

std::vector<ObjectRow> all_objects(Database& database) {
  Statement find = database.prepare(
      "SELECT id, segment, offset, bytes, tick, cost, expires_ns FROM objects");
  return rest_of(find);
}

std::vector<ObjectRow> objects_of(Database& database, std::string_view space) {
  Statement find = database.prepare(
      "SELECT id, segment, offset, bytes, tick, cost, expires_ns FROM objects "
      "WHERE space = ?");
  find.bind(bytes_of_text(space));
  return rest_of(find);
}

std::optional<ObjectRow> object_at(Database& database, const Extent& extent) {
  Statement find = database.prepare(
      "SELECT id, segment, offset, bytes, tick, cost, expires_ns FROM objects "
      "WHERE segment = ? AND offset = ? AND bytes = ?");
  find.bind(extent.segment.get())
      .bind(extent.offset.get())
      .bind(extent.bytes.get());
  return find.step() ? std::optional(row_of(find)) : std::nullopt;
}

void add_object(
    Database& database,
    const ObjectToStore& object,
    const Extent& extent,
    int64_t tick) {
  database
      .prepare(
          "INSERT INTO objects(space, key, segment, offset, bytes, tick, "
          "cost, expires_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(bytes_of_text(object.space))
      .bind(bytes_of_text(object.key))
      .bind(extent.segment.get())
      .bind(extent.offset.get())
      .bind(extent.bytes.get())
      .bind(tick)
      .bind(object.cost)
      .bind(object.expires_ns)
      .run();
  add_live(database, extent);
}

void remove_object_row(Database& database, const ObjectRow& object) {
  database.prepare("DELETE FROM objects WHERE id = ?").bind(object.id).run();
  drop_live(database, object.extent);
}

void touch_object(Database& database, int64_t id, int64_t tick) {
  database.prepare("UPDATE objects SET tick = ? WHERE id = ?")
      .bind(tick)
      .bind(id)
      .run();
}

} // namespace holdfast
