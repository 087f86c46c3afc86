// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Memory for block images of several kinds (one size each) under one budget.
//
// Images are 4 KiB aligned, zero when handed out, and carved from slabs of huge
// page size; a slab without live images goes back to the system, save one a
// kind. Counted bytes are the whole images of live blocks, and charges; images
// in foreign memory (a mapped file) count by themselves, for the system may
// take their pages. A block may be remembered as another's successor: the same
// positions in another kind, so that whoever shares the first need not make it
// again. Threads: all that takes or asks for room on the engine thread;
// references are released, and figures read, on any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/block/block.h"

namespace holdfast {

inline constexpr Bytes kUnlimitedBytes{std::numeric_limits<int64_t>::max()};

/// Bytes of others that count in a pool's budget while this lives. Movable;
/// may outlive the pool; dropped on any thread.
class BudgetCharge {
 public:
  BudgetCharge() = default; // of nothing
  BudgetCharge(BudgetCharge&& other) noexcept
      : heap_(std::move(other.heap_)), bytes_(other.bytes_) {}
  BudgetCharge& operator=(BudgetCharge&&) = delete;
  ~BudgetCharge();

 private:
  friend class BlockPool;
  BudgetCharge(std::shared_ptr<BlockHeap> heap, Bytes bytes)
      : heap_(std::move(heap)), bytes_(bytes) {}
  std::shared_ptr<BlockHeap> heap_;
  Bytes bytes_;
};

/// Asked to let go of blocks or charges of about so many bytes. It may do less,
/// and must neither throw nor ask the pool for room.
using Reclaimer = std::function<void(Bytes lacking)>;

class BlockPool {
 public:
  /// image_bytes: [kind], multiples of 4 KiB. `budget` bounds live_bytes().
  explicit BlockPool(
      std::vector<Bytes> image_bytes,
      Bytes budget = kUnlimitedBytes);

  /// An open block of that kind, zero-filled. Throws kOutOfBudget, and then
  /// nothing changed.
  BlockRef allocate(int64_t kind);
  /// An open block with the bytes of `source`. Throws like allocate.
  BlockRef copy(const BlockRef& source);
  /// A sealed block over an image in memory that nobody writes while the block
  /// lives: image_bytes(kind) bytes, 4 KiB aligned. Freed with the last
  /// reference, on its thread.
  BlockRef adopt(int64_t kind, std::shared_ptr<const std::byte> image);
  /// Called, on the thread that asks, before anything is refused for want of
  /// room; what it freed is then counted. Null: nobody.
  void set_reclaimer(Reclaimer reclaimer);
  /// Says that `successor` holds the positions of `block` in its own kind. Both
  /// are sealed blocks of this pool. Forgotten when either is gone; keeps
  /// neither alive.
  void remember_successor(const BlockRef& block, const BlockRef& successor);
  /// The successor of that kind that was remembered, else null.
  BlockRef successor(const BlockRef& block, int64_t kind) const;
  /// True where the block's image belongs to this pool.
  bool owns(const BlockRef& block) const;
  /// Counts bytes that live beside the blocks. Throws kOutOfBudget.
  BudgetCharge charge(Bytes bytes);
  /// Throws kOutOfBudget unless that many more bytes fit.
  void require(Bytes more);

  int64_t kinds() const;
  /// The image size of a kind.
  Bytes image_bytes(int64_t kind) const;
  Bytes budget() const;
  /// The images of all live blocks, and charges.
  Bytes live_bytes() const;
  /// The most live_bytes() has been.
  Bytes peak_bytes() const;
  int64_t live_blocks() const;
  /// The images of all blocks ever handed out, and those filled by copy().
  Bytes allocated_bytes() const;
  Bytes copied_bytes() const;
  /// Images of live blocks in foreign memory: in no other figure.
  Bytes foreign_bytes() const;
  /// What was taken from the system: the slabs of live images and free ones.
  Bytes mapped_bytes() const;

 private:
  /// Has the reclaimer make room for that many more bytes.
  void make_room(Bytes more);

  std::shared_ptr<BlockHeap> heap_; // shared with the live blocks
  Reclaimer reclaimer_;
  bool reclaiming_ = false;
};

} // namespace holdfast
