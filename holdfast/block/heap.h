// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to block/: slabs, free images and the account behind a BlockPool.
//
// A slab is one allocation of at least a huge page of images of one kind. The
// oldest slab with room serves first, so that younger ones drain; a drained one
// is given back, save one a kind. Lives until the pool and its last block are
// gone. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/block/block.h"

namespace holdfast {

struct BlockSlab;

struct SlabIsOlder {
  bool operator()(const BlockSlab* a, const BlockSlab* b) const;
};
using SlabSet = std::set<BlockSlab*, SlabIsOlder>;

struct BlockSlab {
  std::shared_ptr<std::byte> memory;
  Bytes bytes;
  int64_t sequence; // age
  int64_t images; // it has room for
  int64_t untouched; // images from here on were never handed out: zero
  std::vector<int64_t> returned; // free images with old bytes
  SlabSet::node_type seat; // in the set of slabs with room, while it has none
  std::list<BlockSlab>::iterator self;

  int64_t live() const {
    return untouched - static_cast<int64_t>(returned.size());
  }
};

/// What a pool reports; see BlockPool.
struct BlockAccount {
  Bytes live_bytes;
  Bytes peak_bytes;
  int64_t live_blocks = 0;
  Bytes mapped_bytes;
  Bytes foreign_bytes;
  Bytes allocated_bytes; // of all times
  Bytes copied_bytes; // of all times
};

class BlockHeap {
 public:
  BlockHeap(std::vector<Bytes> image_bytes, Bytes budget);

  /// Gives `block`, whose kind is set, a zero-filled image.
  void attach(Block& block);
  /// Counts `block`, whose kind and image are set, as one in foreign memory.
  void attach_foreign(Block& block);
  void take_back(Block& block) noexcept;
  void count_copy(Bytes bytes);
  /// Counts bytes without an image.
  void charge(Bytes bytes);
  void discharge(Bytes bytes) noexcept;

  /// Makes `successor` what `block` became, in place of what either was linked
  /// to before.
  void link(Block& block, Block& successor);
  /// The successor of that kind with one more reference, or null.
  Block* acquire_successor(Block& block, int64_t kind);

  void require(Bytes more) const;
  /// How many of these bytes do not fit.
  Bytes lacking(Bytes more) const;
  BlockAccount account() const;
  Bytes image_bytes(int64_t kind) const;
  int64_t kinds() const {
    return static_cast<int64_t>(kinds_.size());
  }
  Bytes budget() const {
    return budget_;
  }

 private:
  struct Kind {
    Bytes image_bytes;
    std::list<BlockSlab> slabs;
    SlabSet with_room;
    BlockSlab* drained = nullptr; // the one kept
  };
  void require_locked(Bytes more) const;
  BlockSlab& slab_with_room(Kind& kind);
  static void unlink_locked(Block& block) noexcept;
  void add_live_locked(Bytes bytes);

  const Bytes budget_;
  mutable std::mutex mutex_; // for all below
  std::vector<Kind> kinds_;
  BlockAccount account_;
  int64_t next_sequence_ = 0;
};

} // namespace holdfast
