// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/node_table.h"

#include <algorithm>
#include <cstring>

#include "holdfast/block/layout.h"
#include "holdfast/tier/little_endian.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/record_table.h"
#include "holdfast/tier/segment_table.h"

namespace holdfast {

namespace {

void bind_id_or_null(Statement& statement, NodeId id) {
  if (id == NodeId()) {
    statement.bind_null();
  } else {
    statement.bind(id.get());
  }
}

void change_children(Database& database, NodeId id, int64_t by) {
  if (id != NodeId()) {
    database.prepare("UPDATE nodes SET children = children + ? WHERE id = ?")
        .bind(by)
        .bind(id.get())
        .run();
  }
}

} // namespace

std::vector<std::byte> packed(std::span<const int32_t> tokens) {
  std::vector<std::byte> bytes(4 * tokens.size());
  if (!tokens.empty()) {
    std::memcpy(bytes.data(), tokens.data(), bytes.size());
  }
  return bytes;
}

std::vector<int32_t> unpacked(std::span<const std::byte> bytes) {
  require_row(
      !bytes.empty() && bytes.size() % 4 == 0 &&
          bytes.size() <= 4 * kBlockTokens,
      "1 to 64 tokens of 4 bytes");
  std::vector<int32_t> tokens(bytes.size() / 4);
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  return tokens;
}

std::vector<std::byte> packed(const Key128& key) {
  std::vector<std::byte> bytes(16);
  store_le<uint64_t>(bytes, 0, key.high);
  store_le<uint64_t>(bytes, 8, key.low);
  return bytes;
}

Key128 unpacked_key(std::span<const std::byte> bytes) {
  require_row(bytes.size() == 16, "a key of 16 bytes");
  return {load_le<uint64_t>(bytes, 0), load_le<uint64_t>(bytes, 8)};
}

NodeId parent_in(const Statement& row, int column, NodeId id) {
  if (row.is_null(column)) {
    return NodeId();
  }
  // Ids are given in order: no path is a circle.
  const NodeId parent(row.integer(column));
  require_row(
      parent > NodeId() && parent < id && id.get() < kMostId,
      "a parent before its child");
  return parent;
}

ImageSlot slot_in(const Statement& row, int column) {
  const int64_t group = row.integer(column);
  const int64_t phase = row.integer(column + 1);
  require_row(
      group >= 0 && group <= INT32_MAX && phase >= 0 && phase <= INT32_MAX,
      "a layer group and a phase");
  return {static_cast<int32_t>(group), static_cast<int32_t>(phase)};
}

StoredImage image_in(const Statement& row, int column) {
  return {slot_in(row, column), extent_in(row, column + 2)};
}

std::optional<NodeRow> find_node(Database& database, NodeId id) {
  Statement find = database.prepare(
      "SELECT scope, parent, length(tokens) / 4, children, tick, cost, "
      "expires_ns, pinned FROM nodes WHERE id = ?");
  if (!find.bind(id.get()).step()) {
    return std::nullopt;
  }
  require_row(
      find.integer(2) >= 1 && find.integer(2) <= kBlockTokens &&
          find.integer(3) >= 0,
      "a node of 1 to 64 tokens and no fewer than 0 children");
  return NodeRow{
      .id = id,
      .scope = ScopeId(find.integer(0)),
      .parent = parent_in(find, 1, id),
      .token_count = find.integer(2),
      .children = find.integer(3),
      .tick = find.integer(4),
      .cost = find.integer(5),
      .expires_ns = find.integer(6),
      .pinned = find.integer(7) != 0};
}

NodeId
find_node(Database& database, const NodePlace& place, const NodeToStore& node) {
  Statement find = database.prepare(
      "SELECT id FROM nodes WHERE scope = ? AND key = ? AND parent IS ? AND "
      "tokens = ? AND marks = ?");
  find.bind(place.scope.get()).bind(packed(node.key));
  bind_id_or_null(find, place.parent);
  find.bind(packed(node.tokens)).bind(bytes_of_text(node.marks));
  return NodeId(find.step() ? find.integer(0) : 0);
}

NodeId
add_node(Database& database, const NodePlace& place, const NodeToStore& node) {
  Statement add = database.prepare(
      "INSERT INTO nodes(scope, key, parent, tokens, marks, children, tick, "
      "used_ns, uses, cost, pinned, expires_ns) "
      "VALUES(?, ?, ?, ?, ?, 0, 0, 0, 0, ?, 0, 0)");
  add.bind(place.scope.get()).bind(packed(node.key));
  bind_id_or_null(add, place.parent);
  add.bind(packed(node.tokens)).bind(bytes_of_text(node.marks)).bind(node.cost);
  add.run();
  const NodeId id(database.last_id());
  change_children(database, place.parent, 1);
  return id;
}

std::vector<int32_t> tokens_of(Database& database, NodeId id) {
  Statement find = database.prepare("SELECT tokens FROM nodes WHERE id = ?");
  return find.bind(id.get()).step() ? unpacked(find.bytes(0))
                                    : std::vector<int32_t>();
}

std::vector<NodeId> children_of(Database& database, NodeId id) {
  std::vector<NodeId> children;
  Statement find =
      database.prepare("SELECT id FROM nodes WHERE parent IS nullif(?, 0)");
  find.bind(id.get());
  while (find.step()) {
    children.emplace_back(find.integer(0));
    require_row(children.back() > id, "a child behind its parent");
  }
  return children;
}

void touch_node(Database& database, NodeId id, const NodeUse& use) {
  database
      .prepare(
          "UPDATE nodes SET tick = ?, used_ns = ?, uses = uses + ? "
          "WHERE id = ?")
      .bind(use.tick)
      .bind(use.wall_ns)
      .bind(use.uses)
      .bind(id.get())
      .run();
}

void pin_node(Database& database, NodeId id, bool pinned) {
  database.prepare("UPDATE nodes SET pinned = ? WHERE id = ?")
      .bind(int64_t{pinned})
      .bind(id.get())
      .run();
}

void expire_node(Database& database, NodeId id, int64_t wall_ns) {
  database.prepare("UPDATE nodes SET expires_ns = ? WHERE id = ?")
      .bind(wall_ns)
      .bind(id.get())
      .run();
}

std::vector<StoredImage> images_of(Database& database, NodeId id) {
  std::vector<StoredImage> images;
  Statement find = database.prepare(
      "SELECT layer_group, phase, segment, offset, bytes FROM images "
      "WHERE node = ?");
  find.bind(id.get());
  while (find.step()) {
    images.push_back(image_in(find, 0));
  }
  return images;
}

std::optional<Extent>
find_image(Database& database, NodeId id, ImageSlot slot) {
  Statement find = database.prepare(
      "SELECT segment, offset, bytes FROM images "
      "WHERE node = ? AND layer_group = ? AND phase = ?");
  find.bind(id.get()).bind(int64_t{slot.group}).bind(int64_t{slot.phase});
  return find.step() ? std::optional(extent_in(find, 0)) : std::nullopt;
}

void add_image(
    Database& database,
    NodeId id,
    ImageSlot slot,
    const Extent& extent) {
  database
      .prepare(
          "INSERT INTO images(node, layer_group, phase, segment, offset, "
          "bytes) VALUES(?, ?, ?, ?, ?, ?)")
      .bind(id.get())
      .bind(int64_t{slot.group})
      .bind(int64_t{slot.phase})
      .bind(extent.segment.get())
      .bind(extent.offset.get())
      .bind(extent.bytes.get())
      .run();
  add_live(database, extent);
}

void remove_image(Database& database, NodeId id, const StoredImage& image) {
  database
      .prepare(
          "DELETE FROM images WHERE node = ? AND layer_group = ? AND "
          "phase = ?")
      .bind(id.get())
      .bind(int64_t{image.slot.group})
      .bind(int64_t{image.slot.phase})
      .run();
  drop_live(database, image.extent);
}

NodeId node_at(Database& database, const Extent& extent) {
  Statement find = database.prepare(
      "SELECT node FROM images "
      "WHERE segment = ? AND offset = ? AND bytes = ?");
  find.bind(extent.segment.get())
      .bind(extent.offset.get())
      .bind(extent.bytes.get());
  return NodeId(find.step() ? find.integer(0) : 0);
}

void remove_leaf(Database& database, const NodeRow& node, Removed& removed) {
  for (const RecordName& name : records_on(database, node.id)) {
    remove_record_row(database, name);
    removed.records.push_back(name);
  }
  for (const StoredImage& image : images_of(database, node.id)) {
    remove_image(database, node.id, image);
  }
  database.prepare("DELETE FROM nodes WHERE id = ?").bind(node.id.get()).run();
  change_children(database, node.parent, -1);
  removed.nodes.push_back(node.id);
}

void remove_subtree(Database& database, NodeId id, Removed& removed) {
  // Parents before children here, so removed from the end.
  std::vector<NodeId> nodes{id};
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<NodeId> children = children_of(database, nodes[i]);
    nodes.insert(nodes.end(), children.begin(), children.end());
  }
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (const auto row = find_node(database, *node)) {
      remove_leaf(database, *row, removed);
    }
  }
}

void remove_useless(Database& database, NodeId id, Removed& removed) {
  while (id != NodeId()) {
    const std::optional<NodeRow> node = find_node(database, id);
    if (!node || node->children > 0 || node->pinned ||
        !images_of(database, id).empty() || !records_on(database, id).empty()) {
      return;
    }
    remove_leaf(database, *node, removed);
    id = node->parent;
  }
}

} // namespace holdfast
