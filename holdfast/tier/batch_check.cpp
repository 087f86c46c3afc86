// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/batch_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"
#include "holdfast/tier/manifest_check.h"
#include "holdfast/tier/segment_format.h"

namespace holdfast {

namespace {

[[noreturn]] void refuse(const std::string& expected, const std::string& got) {
  throw Error(
      ErrorCode::kInvalidArgument,
      "[DiskTier] expected " + expected + ", got " + got);
}

void require_image(const ImageToStore& image) {
  if (!image.block || !image.block.sealed()) {
    refuse("a sealed block", image.block ? "an open one" : "none");
  }
  if (image.slot.group < 0 || image.slot.phase < 0) {
    refuse(
        "a slot of 0 or more",
        std::to_string(image.slot.group) + ", " +
            std::to_string(image.slot.phase));
  }
  const Bytes bytes = image.block.bytes();
  if (bytes <= Bytes() || bytes.get() % kSegmentPage != 0) {
    refuse("an image of whole pages", std::to_string(bytes.get()) + " bytes");
  }
  Bytes sum;
  for (const Bytes plane : image.planes) {
    if (plane <= Bytes()) {
      refuse("planes of 1 byte or more", std::to_string(plane.get()));
    }
    sum += plane;
  }
  if (!image.planes.empty() && sum != bytes) {
    refuse(
        "planes of " + std::to_string(bytes.get()) + " bytes together",
        std::to_string(sum.get()));
  }
}

void require_node(const StoreBatch& batch, size_t index) {
  const NodeToStore& node = batch.nodes[index];
  const auto tokens = std::ssize(node.tokens);
  if (tokens < 1 || tokens > kBlockTokens) {
    refuse("1 to 64 tokens a node", std::to_string(tokens));
  }
  if (node.parent_in_batch < -1 ||
      node.parent_in_batch >= static_cast<int64_t>(index)) {
    refuse(
        "a parent before node " + std::to_string(index),
        std::to_string(node.parent_in_batch));
  }
  if (node.parent_in_batch >= 0) {
    const auto& parent = batch.nodes[static_cast<size_t>(node.parent_in_batch)];
    if (std::ssize(parent.tokens) != kBlockTokens) {
      refuse("a parent of 64 tokens", std::to_string(parent.tokens.size()));
    }
  }
  if (node.cost < 0) {
    refuse("a cost of 0 or more", std::to_string(node.cost));
  }
  std::vector<ImageSlot> slots;
  for (const ImageToStore& image : node.images) {
    require_image(image);
    slots.push_back(image.slot);
  }
  std::ranges::sort(slots);
  if (std::ranges::adjacent_find(slots) != slots.end()) {
    refuse("one image a slot", "two");
  }
}

} // namespace

void require_batch(const StoreBatch& batch) {
  for (size_t i = 0; i < batch.nodes.size(); ++i) {
    require_node(batch, i);
  }
  if (!batch.record) {
    return;
  }
  const RecordToStore& record = *batch.record;
  if (record.name.empty()) {
    refuse("a record with a name", "none");
  }
  if (record.leaf_in_batch < -1 ||
      record.leaf_in_batch >= std::ssize(batch.nodes)) {
    refuse("a leaf in the batch", std::to_string(record.leaf_in_batch));
  }
  if (record.version > static_cast<uint64_t>(INT64_MAX)) {
    refuse("a version below 2^63", std::to_string(record.version));
  }
}

void require_object(const ObjectToStore& object) {
  if (object.key.empty() || object.bytes.empty()) {
    refuse("an object with a key and bytes", "an empty one");
  }
  if (object.cost < 0) {
    refuse("a cost of 0 or more", std::to_string(object.cost));
  }
}

void require_extends(Database& database, const NodeRow& tail, NodeId by) {
  const std::optional<NodeRow> node = find_node(database, by);
  ensure(
      node.has_value(), "[DiskTier] expected the node just stored, got none");
  const std::vector<int32_t> shorter = tokens_of(database, tail.id);
  const std::vector<int32_t> longer = tokens_of(database, by);
  if (tail.scope != node->scope || tail.parent != node->parent ||
      shorter.size() >= longer.size() ||
      !std::equal(shorter.begin(), shorter.end(), longer.begin())) {
    refuse(
        "a tail of the same parent that begins the node",
        "node " + std::to_string(tail.id.get()));
  }
}

void require_length(Database& database, const StoredRecord& record) {
  int64_t before = 0; // tokens of the leaf's ancestors
  int64_t of_leaf = 0;
  for (NodeId id = record.leaf; id != NodeId();) {
    const std::optional<NodeRow> node = find_node(database, id);
    require_row(node.has_value(), "whole paths");
    (id == record.leaf ? of_leaf : before) += node->token_count;
    id = node->parent;
  }
  const int64_t length = record.length.get();
  const bool right = record.leaf == NodeId()
      ? length == 0
      : length > before && length <= before + of_leaf;
  if (!right) {
    refuse(
        "a length of " + std::to_string(before + (of_leaf > 0)) + " to " +
            std::to_string(before + of_leaf),
        std::to_string(length));
  }
}

} // namespace holdfast
