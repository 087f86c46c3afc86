// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to DiskTier: the manifest's rows of nodes and images. Keys find,
// tokens and marks decide. `children` counts the rows that have the node as
// their parent. Threads: one at a time.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/tier/batch.h"
#include "holdfast/tier/ids.h"
#include "holdfast/tier/statement.h"
#include "holdfast/tier/stored.h"
#include "holdfast/tier/tier_report.h"

namespace holdfast {

struct NodeRow {
  NodeId id;
  ScopeId scope;
  NodeId parent; // 0: the root
  int64_t token_count = 0;
  int64_t children = 0;
  int64_t tick = 0; // of the last use
  int64_t cost = 0;
  int64_t expires_ns = 0;
  bool pinned = false;
};

/// Where a new node goes.
struct NodePlace {
  ScopeId scope;
  NodeId parent;
};

std::optional<NodeRow> find_node(Database& database, NodeId id);
/// The node with these tokens and marks at that place; 0 where there is none.
NodeId
find_node(Database& database, const NodePlace& place, const NodeToStore& node);
NodeId
add_node(Database& database, const NodePlace& place, const NodeToStore& node);
std::vector<int32_t> tokens_of(Database& database, NodeId id);
/// Of the root: those of all scopes.
std::vector<NodeId> children_of(Database& database, NodeId id);
struct NodeUse {
  int64_t tick = 0;
  int64_t wall_ns = 0;
  int64_t uses = 1; // more than before
};
void touch_node(Database& database, NodeId id, const NodeUse& use);

void pin_node(Database& database, NodeId id, bool pinned);
void expire_node(Database& database, NodeId id, int64_t wall_ns);

/// The parent of node `id` in a row; 0 where it is the root.
NodeId parent_in(const Statement& row, int column, NodeId id);
/// Columns layer_group, phase from `column` on.
ImageSlot slot_in(const Statement& row, int column);
/// Columns layer_group, phase, segment, offset, bytes from `column` on.
StoredImage image_in(const Statement& row, int column);
std::vector<StoredImage> images_of(Database& database, NodeId id);
std::optional<Extent> find_image(Database& database, NodeId id, ImageSlot slot);
void add_image(
    Database& database,
    NodeId id,
    ImageSlot slot,
    const Extent& extent);
void remove_image(Database& database, NodeId id, const StoredImage& image);
/// The node that has exactly this image; 0 where it is none.
NodeId node_at(Database& database, const Extent& extent);

/// Removes a node without children, with its images and the records on it.
void remove_leaf(Database& database, const NodeRow& node, Removed& removed);
/// Removes the node if it has no children, images and records, and then its
/// ancestors alike.
void remove_useless(Database& database, NodeId id, Removed& removed);

/// Removes the node, its descendants and the records on all of them.
void remove_subtree(Database& database, NodeId id, Removed& removed);

std::vector<std::byte> packed(std::span<const int32_t> tokens);
/// Of a row: throws where it is no 1 to 64 tokens.
std::vector<int32_t> unpacked(std::span<const std::byte> bytes);
std::vector<std::byte> packed(const Key128& key);
/// Of a row: throws where it is no key.
Key128 unpacked_key(std::span<const std::byte> bytes);

} // namespace holdfast
