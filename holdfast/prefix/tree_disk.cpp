// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// TreeCore: what the disk tier has, gets and loses.

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "holdfast/base/check.h"
#include "holdfast/prefix/tree_core.h"
#include "holdfast/prefix/tree_room.h"

namespace holdfast {

namespace {

bool fits_after(const Node& parent, const StoredNode& stored) {
  return (parent.full() || !parent.parent) && !stored.tokens.empty() &&
      std::ssize(stored.tokens) <= kBlockTokens &&
      are_block_marks(stored.marks, std::ssize(stored.tokens));
}

/// As TreeRoom weighs it, in what the tier takes a token to cost.
int64_t cost_of(const Node& node) {
  const auto tokens = static_cast<double>(std::ssize(node.tokens));
  return std::llround(
      static_cast<double>(kNsPerToken) * tokens * dearer_at(node.end()));
}

} // namespace

Result<bool> TreeCore::add_stored(ScopeEntry& scope, const StoredNode& stored) {
  Node* parent = scope.root;
  if (stored.parent != NodeId(0)) {
    const auto found = by_id_.find(stored.parent);
    if (found == by_id_.end()) {
      return false;
    }
    parent = found->second;
  }
  if (parent->scope != &scope || !fits_after(*parent, stored)) {
    return Status(
        ErrorCode::kCorrupt,
        "[prefix] expected a stored node that goes on after its parent, got "
        "another");
  }
  const BlockText text{stored.tokens, stored.marks};
  // Images were written under the key: of these tokens after these parents.
  if (stored.key != options.key_hash(parent->key, text.tokens, text.marks)) {
    return Status(
        ErrorCode::kCorrupt,
        "[prefix] expected a stored node under the key of its path, got "
        "another");
  }
  Node* node = parent->children.find(text);
  const Bytes more = node
      ? record_bytes(text, stored.images.size() + node->images.size()) -
          node->counted
      : record_bytes(text, stored.images.size());
  TreeRoom room(*this, EvictedBy::kRamBudget);
  if (!room.make(more, node ? *node : *parent)) {
    return false;
  }
  node = parent->children.find(text);
  node = node ? node : &add_node(*parent, text);
  set_stored(*node, stored.id);
  for (const StoredImage& image : stored.images) {
    set_disk(*node, node->at(image.slot), image.extent);
  }
  forget_others(*node, stored.images);
  supersede_on_disk(*node);
  const bool kept = node->any_image() || !node->children.empty();
  return kept || stored.images.empty();
}

// Another process dropped them.
void TreeCore::forget_others(
    Node& node,
    const std::vector<StoredImage>& there) {
  for (Image& image : node.images) {
    if (image.on_disk() &&
        std::ranges::find(there, image.slot, &StoredImage::slot) ==
            there.end()) {
      set_disk(node, image, {});
      if (!image.ram) {
        node.evicted = now_evicted(EvictedBy::kDisk);
      }
    }
  }
}

void TreeCore::set_stored(Node& node, NodeId id) {
  if (node.stored != NodeId(0) && node.stored != id) {
    by_id_.erase(node.stored);
  }
  node.stored = id;
  by_id_[id] = &node;
  recount(node);
}

WriteBatch TreeCore::begin_write(std::span<const FreshImages> images) {
  WriteBatch batch;
  Places places;
  for (const FreshImages& fresh : images) {
    add_images(batch, places, fresh, Writing::kLeftOut);
  }
  return batch;
}

void TreeCore::add_images(
    WriteBatch& batch,
    Places& places,
    const FreshImages& fresh,
    Writing others) {
  Node* node = resolve(fresh.node);
  if (!node) {
    return; // evicted meanwhile
  }
  for (const ImageSlot slot : fresh.slots) {
    Image* image = node->find(slot);
    if (!image || !image->ram || image->on_disk() ||
        (image->writing && others == Writing::kLeftOut)) {
      continue;
    }
    const auto place = static_cast<size_t>(add_to_batch(batch, places, *node));
    auto& images = batch.nodes[place].images;
    if (std::ranges::find(images, slot, &ImageToStore::slot) != images.end()) {
      continue;
    }
    if (!image->writing) {
      image->writing = true;
      ++node->writing;
    }
    images.push_back({.slot = slot, .block = image->ram->block, .planes = {}});
  }
}

int64_t TreeCore::add_to_batch(WriteBatch& batch, Places& places, Node& node) {
  std::vector<Node*> missing;
  Node* at = &node;
  while (at->parent && !places.contains(at) &&
         (at == &node || at->stored == NodeId(0))) {
    missing.push_back(at);
    at = at->parent;
  }
  for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
    Node& each = **next;
    NodeToStore& added = batch.nodes.emplace_back();
    const auto parent = places.find(each.parent);
    added.parent_in_batch = parent == places.end() ? -1 : parent->second;
    added.parent = each.parent->stored;
    added.key = each.key;
    added.tokens = each.tokens;
    added.marks = each.marks;
    added.cost = cost_of(each);
    for (const Node* tail : each.parent->children.prefixes(each.text())) {
      if (tail->stored != NodeId(0) && tail->pins == 0) {
        added.supersedes.push_back(tail->stored);
      }
    }
    places[&each] = std::ssize(batch.nodes) - 1;
    ++each.writing; // the batch names it
    batch.handles.push_back(handle(each));
  }
  return places.at(&node);
}

void TreeCore::end_write(Node& node, const NodeToStore& written) {
  --node.writing;
  for (const ImageToStore& image : written.images) {
    if (Image* of = node.find(image.slot); of && of->writing) {
      of->writing = false;
      --node.writing;
    }
  }
}

void TreeCore::stored(const WriteBatch& batch, const Stored& stored) {
  expect(
      stored.nodes.size() == batch.nodes.size() &&
          stored.images.size() == batch.nodes.size(),
      "[prefix] expected what was stored of this batch, got another number of "
      "nodes");
  for (size_t i = 0; i < batch.nodes.size(); ++i) {
    Node* node = resolve(batch.handles[i]);
    ensure(node, "[prefix] expected a node that is written to stay, got none");
    end_write(*node, batch.nodes[i]);
    set_stored(*node, stored.nodes[i]);
    const auto& images = batch.nodes[i].images;
    for (size_t j = 0; j < images.size(); ++j) {
      set_disk(*node, node->at(images[j].slot), stored.images[i].at(j));
    }
  }
  for (const NodeId id : stored.removed.nodes) {
    remove_stored(id);
  }
  // Children first, so that none is left behind without its parent.
  for (size_t i = batch.nodes.size(); i-- > 0;) {
    if (Node* node = resolve(batch.handles[i])) {
      supersede_on_disk(*node);
      prune(node, EvictedBy::kDisk);
    }
  }
}

std::vector<FreshImages> TreeCore::not_stored(const WriteBatch& batch) {
  std::vector<FreshImages> again;
  for (size_t i = 0; i < batch.nodes.size(); ++i) {
    Node* node = resolve(batch.handles[i]);
    ensure(node, "[prefix] expected a node that is written to stay, got none");
    end_write(*node, batch.nodes[i]);
    FreshImages fresh{.node = batch.handles[i], .slots = {}};
    for (const ImageToStore& image : batch.nodes[i].images) {
      const Image* of = node->find(image.slot);
      if (of && of->ram && !of->on_disk()) {
        fresh.slots.push_back(image.slot);
      }
    }
    if (!fresh.slots.empty()) {
      again.push_back(std::move(fresh));
    }
  }
  for (size_t i = batch.nodes.size(); i-- > 0;) {
    if (Node* node = resolve(batch.handles[i])) {
      prune(node, EvictedBy::kNobody);
    }
  }
  return again;
}

std::vector<NodeId> TreeCore::stored_nodes() const {
  std::vector<NodeId> ids;
  ids.reserve(by_id_.size());
  for (const auto& [id, node] : by_id_) {
    ids.push_back(id);
  }
  return ids;
}

void TreeCore::remove_stored(NodeId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return;
  }
  Node& node = *found->second;
  by_id_.erase(found);
  node.stored = NodeId(0);
  for (Image& image : node.images) {
    if (image.on_disk()) {
      set_disk(node, image, {});
      if (!image.ram) {
        node.evicted = now_evicted(EvictedBy::kDisk);
      }
    }
  }
  recount(node);
  prune(&node, EvictedBy::kDisk);
}

void TreeCore::lose_stored(const Lost& lost) {
  std::vector<Extent> gone = lost.images;
  std::ranges::sort(gone);
  for (Node& node : nodes_) {
    bool any = false;
    for (Image& image : node.images) {
      const bool told =
          image.on_disk() && std::ranges::binary_search(gone, image.disk);
      const bool bad = (told || lost.cut) && image.ram &&
          !image.ram->block.intact(); // mapped from there
      if (bad) {
        detach(node, image);
      }
      if (told || bad) {
        set_unreadable(node, image);
        any = true;
      }
    }
    if (any) {
      prune(&node, EvictedBy::kDisk);
    }
  }
}

} // namespace holdfast
