// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/tree_room.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace holdfast {

namespace {

/// Position at which the attention of a token is taken to cost as much as all
/// the rest of the model.
constexpr double kAttentionParity = 32768;
/// How far back the blocks behind a leaf are counted.
constexpr int kMostBlocksBehind = 64;

/// The node has an image of every group of which `leaf` has one.
bool has_groups_of(const Node& node, const Node& leaf) {
  return std::ranges::all_of(leaf.images, [&](const Image& wanted) {
    return !wanted.available() ||
        std::ranges::any_of(node.images, [&](const Image& image) {
          return image.available() && image.slot.group == wanted.slot.group;
        });
  });
}

/// Blocks to compute again where the leaf is lost: its own, and those back to
/// the last from which a row could go on.
double cost_of(const Node& leaf) {
  int blocks = 1;
  const Node* at = leaf.parent;
  while (at->parent && blocks < kMostBlocksBehind &&
         !has_groups_of(*at, leaf)) {
    at = at->parent;
    ++blocks;
  }
  return blocks * dearer_at(leaf.end());
}

double pressure_of(int64_t rank, Bytes bytes, double cost, int32_t priority) {
  const auto held =
      static_cast<double>(rank) * static_cast<double>(bytes.get());
  return std::ldexp(held / cost, -priority);
}

/// Of the node's images in RAM, or of those that the disk has as well.
Bytes ram_bytes(const Node& node, bool backed_alone) {
  Bytes sum;
  for (const Image& image : node.images) {
    if (image.ram && (image.on_disk() || !backed_alone)) {
      sum += image.ram->block.bytes();
    }
  }
  return sum;
}

} // namespace

double dearer_at(Position end) {
  const auto position = static_cast<double>(std::max(end, Position(0)).get());
  return 1 + position / kAttentionParity;
}

Node* TreeRoom::victim(Node& leaf, Take what) {
  if (what == Take::kAny) {
    return leaf.may_lose() ? &leaf : nullptr;
  }
  for (Node* at = &leaf; at && (!at->chat || at->chat == leaf.chat);
       at = at->parent) {
    if (at->chat && at->may_drop()) {
      return at;
    }
  }
  return nullptr;
}

void TreeRoom::add(Node& leaf, int64_t rank) {
  const Chat& chat = *leaf.chat;
  candidates_.push(
      {pressure_of(rank, chat.bytes, cost_of(leaf), chat.priority),
       rank,
       &leaf});
}

void TreeRoom::rank_chats(Take what, const Chat* own) {
  candidates_ = {};
  int64_t rank = 1; // of who asks
  for (Chat& chat : tree_.chats) {
    if (&chat == own) {
      continue;
    }
    ++rank;
    if (what == Take::kAny || chat.backed > Bytes(0)) {
      for (Node* leaf : chat.leaves) {
        add(*leaf, rank);
      }
    }
  }
}

void TreeRoom::take_one(const Candidate& from, Node& victim, Take what) {
  Node* next = &victim == from.leaf ? TreeCore::next_ram_leaf(victim) : nullptr;
  if (what == Take::kBacked) {
    tree_.drop_backed(victim);
  } else {
    tree_.drop(victim, by_);
  }
  if (from.leaf->ram_leaf()) {
    add(*from.leaf, from.rank);
  } else if (next && next->ram_leaf()) {
    add(*next, from.rank);
  }
}

void TreeRoom::take(Take what, Bytes until, double least, const Chat* own) {
  if (fits(until)) {
    return;
  }
  rank_chats(what, own);
  while (!fits(until) && !candidates_.empty()) {
    const Candidate top = candidates_.top();
    candidates_.pop();
    const Chat& chat = *top.leaf->chat;
    const double now =
        pressure_of(top.rank, chat.bytes, cost_of(*top.leaf), chat.priority);
    if (now < top.pressure) { // another leaf of the chat went meanwhile
      add(*top.leaf, top.rank);
      continue;
    }
    if (now <= least) {
      return;
    }
    if (Node* node = victim(*top.leaf, what)) {
      take_one(top, *node, what);
    }
  }
}

bool TreeRoom::make(Bytes more, Node& above) {
  if (more > tree_.budget()) {
    return false;
  }
  const Bytes until = tree_.budget() - more;
  if (fits(until)) {
    return true;
  }
  ++above.leases;
  take(Take::kBacked, until, -1, nullptr);
  const Chat* own = TreeCore::chat_below(&above);
  const double least = pressure_of(
      1,
      more + (own ? own->bytes : Bytes(0)),
      dearer_at(above.end()),
      own ? own->priority : 0);
  take(Take::kAny, until, least, own);
  --above.leases;
  return fits(until);
}

void TreeRoom::shrink_to(Bytes until) {
  take(Take::kBacked, until, -1, nullptr);
  take(Take::kAny, until, -1, nullptr);
}

std::optional<LeavingRam> TreeRoom::next(uint64_t now) {
  for (const Take what : {Take::kBacked, Take::kAny}) {
    rank_chats(what, nullptr);
    for (; !candidates_.empty(); candidates_.pop()) {
      Node& leaf = *candidates_.top().leaf;
      if (const Node* node = victim(leaf, what)) {
        const bool backed = what == Take::kBacked;
        constexpr double kBlockNs = static_cast<double>(kBlockTokens) *
            static_cast<double>(kNsPerToken);
        return leaving_ram(
            now - leaf.chat->used,
            ram_bytes(*node, backed),
            backed ? 0 : cost_of(leaf) * kBlockNs);
      }
    }
  }
  return std::nullopt;
}

Bytes TreeRoom::may_leave(Bytes most) const {
  std::vector<const Node*> ready; // nothing in RAM below, once others left
  for (const Chat& chat : tree_.chats) {
    ready.insert(ready.end(), chat.leaves.begin(), chat.leaves.end());
  }
  std::unordered_map<const Node*, int32_t> left; // of those below a node
  Bytes sum;
  while (!ready.empty() && sum < most) {
    const Node* node = ready.back();
    ready.pop_back();
    if (node->ram_images > 0) {
      if (!node->may_lose()) {
        sum += node->may_drop() ? ram_bytes(*node, /*backed_alone=*/true)
                                : Bytes(0);
        continue;
      }
      sum += ram_bytes(*node, /*backed_alone=*/false);
    }
    const Node* above = node->parent;
    if (above && ++left[above] == above->ram_below) {
      ready.push_back(above);
    }
  }
  return std::min(sum, most);
}

} // namespace holdfast
