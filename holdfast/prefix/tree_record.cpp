// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: a whole text for the disk, and whether the disk has one.

#include <algorithm>

#include "holdfast/base/bits.h"
#include "holdfast/prefix/tree_core.h"

namespace holdfast {

RecordWrite TreeCore::begin_record(
    ScopeEntry& scope,
    const PathBlocks& asked,
    std::span<const FreshImages> fresh) {
  const Usable found = look_up(scope, asked);
  RecordWrite write;
  write.usable = found.length;
  Places places;
  for (const FreshImages& each : fresh) {
    add_images(write.batch, places, each, Writing::kTaken);
  }
  for (const auto& group : found.images) {
    for (const UsableImage& image : group) {
      add_images(
          write.batch,
          places,
          {.node = image.node, .slots = {image.slot}},
          Writing::kTaken);
    }
  }
  add_leaf(write, places, scope, asked);
  return write;
}

void TreeCore::add_leaf(
    RecordWrite& write,
    Places& places,
    ScopeEntry& scope,
    const PathBlocks& asked) {
  const int64_t length = asked.length().get() - 1; // one more is asked for
  const Matched found = match(scope, asked);
  Node* last = found.last();
  int64_t block = found.blocks(); // the first that has no node
  const int64_t rest = length - block * kBlockTokens;
  if (rest > 0 && rest < kBlockTokens && found.part.run >= rest) {
    last = found.part.node;
    ++block;
  }
  if (last->parent && last->stored == NodeId(0)) {
    add_to_batch(write.batch, places, *last);
  }
  const auto place = places.find(last);
  write.leaf_in_batch = place == places.end() ? -1 : place->second;
  write.leaf = last->stored;
  Key128 key = last->key;
  for (; block < ceil_div(length, kBlockTokens); ++block) {
    const BlockText whole = asked[block];
    const BlockText text =
        leading(whole, std::min(whole.size(), length - block * kBlockTokens));
    NodeToStore& added = write.beyond.emplace_back();
    added.parent_in_batch = write.leaf_in_batch;
    added.parent = write.leaf;
    key = options.key_hash(key, text.tokens, text.marks);
    added.key = key;
    added.tokens.assign(text.tokens.begin(), text.tokens.end());
    added.marks = text.marks;
    write.leaf_in_batch =
        std::ssize(write.batch.nodes) + std::ssize(write.beyond) - 1;
  }
}

std::optional<std::vector<NamedImage>>
TreeCore::stored_images(ScopeEntry& scope, const PathBlocks& asked) {
  const Usable found = look_up(scope, asked);
  if (found.length < asked.length() - Position(1)) {
    return std::nullopt;
  }
  std::vector<NamedImage> images;
  for (const auto& group : found.images) {
    for (const UsableImage& image : group) {
      const Node* node = resolve(image.node);
      const Image* of = node ? node->find(image.slot) : nullptr;
      if (!of || !of->on_disk() || of->unreadable) {
        return std::nullopt;
      }
      images.push_back(
          {.node = node->stored, .slot = of->slot, .extent = of->disk});
    }
  }
  return images;
}

} // namespace holdfast
