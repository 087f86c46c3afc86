// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: what the index is made of. A node is one block of one
// sequence: at most kBlockTokens tokens behind its parent. A full node may have
// children; a shorter one, a tail, has none. Its images are found by slot.
//
// A chat is a run of nodes that hold images in RAM and that no other branch
// shares: what one conversation costs beside the others. Nodes that several
// branches pass through belong to none.
// Under the lock of their tree.

#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "holdfast/base/key_hash.h"
#include "holdfast/block/block.h"
#include "holdfast/block/layout.h"
#include "holdfast/env/clock.h"
#include "holdfast/prefix/children.h"
#include "holdfast/prefix/evicted.h"
#include "holdfast/prefix/path.h"
#include "holdfast/tier/ids.h"

namespace holdfast {

struct Node;
struct ScopeEntry;

/// A block that the index refers to: one reference, however many images.
struct RamBlock {
  BlockRef block;
  int64_t images = 0;
};

/// State of one node in one slot. Without RAM and disk it says why not.
struct Image {
  ImageSlot slot;
  RamBlock* ram = nullptr;
  Extent disk; // of no bytes: not there
  bool writing = false; // a store is under way
  bool unreadable = false; // the disk gave it back wrongly, or not at all

  bool on_disk() const {
    return disk.bytes > Bytes(0);
  }
  bool available() const {
    return ram != nullptr || (on_disk() && !unreadable);
  }
};

struct Chat {
  Bytes bytes; // images of its nodes in RAM
  Bytes backed; // those of them that the disk has as well
  int64_t nodes = 0;
  uint64_t used = 0;
  int32_t priority = 0;
  Clock::Duration time_to_live = Clock::Duration::max(); // since its last use
  Clock::Moment expires = Clock::Moment::max();
  std::vector<Node*> leaves; // nodes in RAM with nothing in RAM below
  std::list<Chat>::iterator self;
};

struct Node {
  // What a lookup reads of each node that it passes lies together.
  Children children;
  std::vector<int32_t> tokens;
  std::string marks;
  std::vector<Image> images;
  Node* parent = nullptr;
  uint64_t used = 0;
  Chat* chat = nullptr;
  ScopeEntry* scope = nullptr;
  Key128 key;
  NodeId stored; // 0: not on disk
  Evicted evicted; // the last image that it lost
  Bytes counted; // of this record, in the index's bytes
  int32_t block = -1; // index in the sequence; -1: a root
  int32_t ram_images = 0;
  int32_t ram_below = 0; // children that hold RAM, themselves or below
  int32_t writing = 0; // images
  int32_t pins = 0; // of this node and all below
  int32_t leases = 0; // likewise
  uint32_t index = 0;
  uint32_t generation = 0; // of the place that it lies in

  BlockText text() const {
    return {tokens, marks};
  }
  bool full() const {
    return std::ssize(tokens) == kBlockTokens;
  }
  bool holds_ram() const {
    return ram_images > 0 || ram_below > 0;
  }
  bool ram_leaf() const {
    return ram_images > 0 && ram_below == 0;
  }
  Position end() const {
    return Position(block * kBlockTokens + std::ssize(tokens));
  }
  Image* find(ImageSlot slot);
  const Image* find(ImageSlot slot) const {
    return const_cast<Node*>(this)->find(slot);
  }
  bool has(ImageSlot slot) const {
    const Image* image = find(slot);
    return image && image->available();
  }
  /// The image of that slot, added where there is none.
  Image& at(ImageSlot slot);
  /// Any image, here in RAM or on disk.
  bool any_image() const;
  /// Nobody else refers to one of its blocks, and no lease holds it.
  bool idle() const;
  /// RAM may let go of all it has, or of what the disk has as well.
  bool may_lose() const;
  bool may_drop() const;
};

} // namespace holdfast
