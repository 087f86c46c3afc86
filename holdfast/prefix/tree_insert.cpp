// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: paths that are put in.

#include <algorithm>

#include "holdfast/prefix/tree_core.h"
#include "holdfast/prefix/tree_room.h"

namespace holdfast {

namespace {

/// The images of one block.
std::span<const GivenImage>
images_of(std::span<const GivenImage> images, int64_t block) {
  const auto range = std::ranges::equal_range(
      images, BlockIndex(block), {}, &GivenImage::block);
  return {range.begin(), range.end()};
}

} // namespace

bool TreeCore::takes(
    const Node& parent,
    const BlockText& text,
    ImageSlot slot) {
  const Node* node = parent.children.find(text);
  const Image* there = node ? node->find(slot) : nullptr;
  if (there && (there->ram || there->available())) {
    return !there->ram;
  }
  // Only a tail can be extended.
  return text.size() == kBlockTokens ||
      parent.children.longest(text, slot).run < text.size();
}

Bytes TreeCore::wanted_bytes(
    const Node& parent,
    const BlockText& text,
    std::span<const GivenImage> given) const {
  const Node* node = parent.children.find(text);
  size_t images = node ? node->images.size() : 0;
  Bytes sum;
  bool any = node || text.size() == kBlockTokens;
  for (const GivenImage& image : given) {
    if (takes(parent, text, image.slot)) {
      sum += bytes_of(image.image);
      images += !node || !node->find(image.slot);
      any = true;
    }
  }
  if (any) {
    sum += record_bytes(text, images) - (node ? node->counted : Bytes(0));
  }
  return sum;
}

Bytes TreeCore::wanted_bytes(const NewPath& path) const {
  Bytes sum;
  const Node* node = path.scope.root;
  for (int64_t block = 0; block < path.blocks.count(); ++block) {
    const BlockText text = path.blocks[block];
    const auto given = images_of(path.images, block);
    if (node) {
      sum += wanted_bytes(*node, text, given);
      node = node->children.find(text);
      continue;
    }
    sum += record_bytes(text, given.size());
    for (const GivenImage& image : given) {
      sum += bytes_of(image.image);
    }
  }
  return sum;
}

bool TreeCore::make_room(
    Node& parent,
    const BlockText& text,
    std::span<const GivenImage> given) {
  // What goes may be what covered an image, so that it is wanted now.
  Bytes more = wanted_bytes(parent, text, given);
  while (bytes() + more > budget()) {
    Node* node = parent.children.find(text);
    TreeRoom room(*this, EvictedBy::kRamBudget);
    if (!room.make(more, node ? *node : parent)) {
      return false;
    }
    more = wanted_bytes(parent, text, given);
  }
  return true;
}

Node* TreeCore::put_block(
    Node& parent,
    const BlockText& text,
    std::span<const GivenImage> given,
    Inserted& result) {
  std::vector<const GivenImage*> taken;
  for (const GivenImage& image : given) {
    if (takes(parent, text, image.slot)) {
      taken.push_back(&image);
    }
  }
  Node* node = parent.children.find(text);
  if (node || !taken.empty() || text.size() == kBlockTokens) {
    ++parent.leases; // though the tail that it held may go
    for (const GivenImage* image : taken) {
      supersede_in_ram(parent, text, image->slot);
    }
    node = node ? node : &add_node(parent, text);
    node->used = tick;
    for (const GivenImage* image : taken) {
      attach(*node, image->slot, image->image);
    }
    --parent.leases;
    for (const Image& image : node->images) {
      add_fresh(*node, image, result);
    }
  }
  const Node* const own = node;
  for (const GivenImage& image : given) { // what longer nodes have
    if (!own || !own->has(image.slot)) {
      Node* longer = parent.children.longest(text, image.slot).node;
      node = node ? node : longer;
      add_fresh(*longer, *longer->find(image.slot), result);
    }
  }
  return node;
}

void TreeCore::add_fresh(
    const Node& node,
    const Image& image,
    Inserted& result) {
  if (!image.ram || image.on_disk() || image.writing) {
    return;
  }
  if (result.fresh.empty() || !(result.fresh.back().node == handle(node))) {
    result.fresh.push_back({.node = handle(node), .slots = {}});
  }
  result.fresh.back().slots.push_back(image.slot);
}

void TreeCore::supersede_in_ram(
    Node& parent,
    const BlockText& text,
    ImageSlot slot) {
  for (Node* tail : parent.children.prefixes(text)) {
    Image* image = tail->find(slot);
    if (image && image->ram && tail->pins == 0 && tail->leases == 0) {
      detach(*tail, *image);
      end_superseded(*tail);
    }
  }
}

void TreeCore::supersede_on_disk(Node& node) {
  for (Node* tail : node.parent->children.prefixes(node.text())) {
    if (tail->pins > 0 || tail->leases > 0) {
      continue;
    }
    for (Image& image : tail->images) {
      const Image* better = node.find(image.slot);
      if (image.on_disk() && better && better->on_disk()) {
        set_disk(*tail, image, {});
      }
    }
    end_superseded(*tail);
  }
}

void TreeCore::end_superseded(Node& tail) {
  if (!tail.any_image()) {
    tail.evicted = {}; // nothing was lost
  }
  prune(&tail, EvictedBy::kNobody);
}

Inserted TreeCore::insert(const NewPath& path) {
  expire();
  tick = next_tick();
  ++stats.inserts;
  Inserted result;
  Node* node = path.scope.root;
  for (int64_t block = 0; block < path.blocks.count(); ++block) {
    const BlockText text = path.blocks[block];
    const auto given = images_of(path.images, block);
    if (!make_room(*node, text, given)) {
      ++stats.cut_inserts;
      break;
    }
    Node* put = put_block(*node, text, given, result);
    if (!put) { // a tail without images
      break;
    }
    node = put;
    result.kept =
        std::min(path.blocks.length(), Position((block + 1) * kBlockTokens));
  }
  use_chat(*node, path.options);
  result.leaf = handle(*node);
  prune(node, EvictedBy::kNobody); // places that hold nothing after all
  if (!resolve(result.leaf)) {
    result.leaf = {};
  }
  return result;
}

void TreeCore::use_chat(Node& node, const InsertOptions& given) {
  if (Chat* chat = node.chat) {
    chat->priority = given.priority.value_or(chat->priority);
    chat->time_to_live = given.time_to_live.value_or(chat->time_to_live);
  }
  touch(node);
}

} // namespace holdfast
