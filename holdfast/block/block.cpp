// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/block.h"

#include "holdfast/base/check.h"
#include "holdfast/block/heap.h"
#include "holdfast/env/mapping_guard.h"

namespace holdfast {

std::byte* BlockRef::mutable_image() const {
  ensure(
      !sealed(),
      "[block] expected an open block to write to, got a sealed one");
  ensure(
      !shared(),
      "[block] expected an open block with one owner, got a shared one");
  return block_->image;
}

bool BlockRef::intact() const {
  return !block_->spoiled.load(std::memory_order_acquire) &&
      (!block_->foreign || mapping_is_whole(block_->image));
}

void BlockRef::made_of(const BlockRef& source) const {
  if (!source.intact()) {
    block_->spoiled.store(true, std::memory_order_release);
  }
}

void BlockRef::release() noexcept {
  if (block_ == nullptr ||
      block_->references.fetch_sub(1, std::memory_order_acq_rel) > 1) {
    return;
  }
  const std::unique_ptr<Block> block(block_);
  block->heap->take_back(*block);
}

} // namespace holdfast
