// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A block's image and the counted reference to it.
//
// A block is open until it is sealed; sealed bytes never change again. Copying
// a BlockRef shares the block, destroying the last one gives the image back to
// its pool, which may be gone by then. Threads: references may be copied and
// destroyed on any thread; seal() and mutable_image() belong to the engine
// thread.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "holdfast/base/strong.h"

namespace holdfast {

class BlockHeap;
struct BlockSlab;

/// Internal to block/: what BlockRefs point to.
struct Block {
  std::atomic<int64_t> references{0};
  std::atomic<bool> sealed{false};
  std::atomic<bool> spoiled{false};
  int64_t kind = 0;
  Bytes bytes;
  std::byte* image = nullptr;
  BlockSlab* slab = nullptr; // null: the image lies in `foreign`
  std::shared_ptr<const std::byte> foreign; // read-only, such as a mapped file
  std::shared_ptr<BlockHeap> heap; // takes the image back
  // Under the heap's lock; they hold no reference and go with either block.
  Block* successor = nullptr; // what this became in another kind
  Block* origin = nullptr; // what has this as its successor
};

class BlockRef {
 public:
  BlockRef() = default; // null
  BlockRef(const BlockRef& other) noexcept : block_(other.block_) {
    acquire();
  }
  BlockRef(BlockRef&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockRef() {
    release();
  }

  explicit operator bool() const {
    return block_ != nullptr;
  }
  /// True where both name the same block.
  bool operator==(const BlockRef& other) const {
    return block_ == other.block_;
  }

  // The rest needs a reference that is not null.

  /// The image: bytes() bytes, 4 KiB aligned.
  const std::byte* image() const {
    return block_->image;
  }
  /// The same to write to. Throws kInternal where the block is sealed or
  /// another reference to it exists: an open block has one owner.
  std::byte* mutable_image() const;
  Bytes bytes() const {
    return block_->bytes;
  }
  /// The image kind it was allocated with; a pool's index.
  int64_t kind() const {
    return block_->kind;
  }
  bool sealed() const {
    return block_->sealed.load(std::memory_order_acquire);
  }
  /// From here on the bytes are immutable.
  void seal() const {
    block_->sealed.store(true, std::memory_order_release);
  }
  /// False where the image is a mapped file's that somebody cut short, or was
  /// made of one such: its bytes mean nothing. It stays so (mapping_guard.h).
  bool intact() const;
  /// Says that the bytes were made of that block's, after they were.
  void made_of(const BlockRef& source) const;
  /// True where another reference exists.
  bool shared() const {
    return block_->references.load(std::memory_order_acquire) > 1;
  }

 private:
  friend class BlockPool;
  explicit BlockRef(Block* block) noexcept : block_(block) {
    acquire();
  }
  /// Takes over a reference that was counted already.
  static BlockRef of_counted(Block* block) noexcept {
    BlockRef result;
    result.block_ = block;
    return result;
  }
  void acquire() noexcept {
    if (block_) {
      block_->references.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void release() noexcept;

  Block* block_ = nullptr;
};

} // namespace holdfast
