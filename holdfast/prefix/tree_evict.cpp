// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: what leaves RAM.

#include <algorithm>

#include "holdfast/prefix/tree_core.h"
#include "holdfast/prefix/tree_room.h"

namespace holdfast {

namespace {

/// When what expired in use is looked at again.
constexpr auto kRetry = std::chrono::seconds(1);

} // namespace

int64_t TreeCore::drop_backed(Node& node) {
  int64_t count = 0;
  for (Image& image : node.images) {
    if (image.ram && image.on_disk()) {
      detach(node, image);
      ++count;
    }
  }
  stats.dropped_images += count;
  return count;
}

int64_t TreeCore::drop(Node& node, EvictedBy by) {
  int64_t count = drop_backed(node);
  for (Image& image : node.images) {
    if (image.ram) {
      node.evicted = now_evicted(by);
      detach(node, image);
      ++stats.lost_images;
      ++count;
    }
  }
  prune(&node, by);
  return count;
}

Bytes TreeCore::reclaim(Bytes wanted, EvictedBy by) {
  const Bytes before = stats.image_bytes;
  const Bytes index = stats.index_bytes;
  TreeRoom(*this, by).shrink_to(std::max(Bytes(0), before + index - wanted));
  return before - stats.image_bytes;
}

void TreeCore::expire() {
  const Clock::Moment now = options.clock->now();
  if (now < next_expiry) {
    return;
  }
  std::vector<Node*> leaves;
  for (const Chat& chat : chats) {
    if (chat.expires <= now) {
      leaves.insert(leaves.end(), chat.leaves.begin(), chat.leaves.end());
    }
  }
  for (Node* leaf : leaves) {
    stats.expired_images += drop_branch(leaf, EvictedBy::kTimeToLive);
  }
  next_expiry = Clock::Moment::max();
  for (const Chat& chat : chats) { // what is in use is looked at again
    next_expiry = std::min(next_expiry, std::max(chat.expires, now + kRetry));
  }
}

int64_t TreeCore::drop_branch(Node* leaf, EvictedBy by) {
  int64_t count = 0;
  while (leaf && leaf->ram_leaf() && leaf->may_lose()) {
    Node* next = next_ram_leaf(*leaf);
    const bool same = next && next->chat == leaf->chat;
    count += drop(*leaf, by);
    leaf = same ? next : nullptr;
  }
  return count;
}

int64_t TreeCore::forget(ScopeEntry& scope, const PathBlocks& blocks) {
  const Matched found = match(scope, blocks);
  const int64_t rest = blocks.length().get() % kBlockTokens;
  Node* leaf = found.last();
  if (found.blocks() * kBlockTokens + rest != blocks.length().get()) {
    return 0; // not known to its end
  }
  if (rest > 0) {
    Node* tail = leaf->children.find(blocks[found.blocks()]);
    leaf = tail ? tail : leaf;
  }
  while (leaf->parent && !leaf->holds_ram()) {
    leaf = leaf->parent;
  }
  return leaf->ram_leaf() ? drop_branch(leaf, EvictedBy::kForgotten) : 0;
}

} // namespace holdfast
