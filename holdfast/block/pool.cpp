// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/pool.h"

#include <cstring>
#include <utility>

#include "holdfast/block/heap.h"

namespace holdfast {

BlockPool::BlockPool(std::vector<Bytes> image_bytes, Bytes budget)
    : heap_(std::make_shared<BlockHeap>(std::move(image_bytes), budget)) {}

BlockRef BlockPool::allocate(int64_t kind) {
  heap_->image_bytes(kind); // checks the index
  auto block = std::make_unique<Block>();
  block->kind = kind;
  heap_->attach(*block);
  block->heap = heap_;
  return BlockRef(block.release());
}

BlockRef BlockPool::copy(const BlockRef& source) {
  BlockRef result = allocate(source.kind());
  std::memcpy(
      result.mutable_image(),
      source.image(),
      static_cast<size_t>(source.bytes().get()));
  return result;
}

void BlockPool::require(Bytes more) const {
  heap_->require(more);
}

int64_t BlockPool::kinds() const {
  return heap_->kinds();
}

Bytes BlockPool::image_bytes(int64_t kind) const {
  return heap_->image_bytes(kind);
}

Bytes BlockPool::budget() const {
  return heap_->budget();
}

Bytes BlockPool::live_bytes() const {
  return heap_->account().live_bytes;
}

Bytes BlockPool::peak_bytes() const {
  return heap_->account().peak_bytes;
}

int64_t BlockPool::live_blocks() const {
  return heap_->account().live_blocks;
}

Bytes BlockPool::mapped_bytes() const {
  return heap_->account().mapped_bytes;
}

} // namespace holdfast
