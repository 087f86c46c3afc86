// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/pool.h"

#include <cstring>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/block/heap.h"

namespace holdfast {

namespace {

constexpr uintptr_t kPageBytes = 4096;

} // namespace

BlockPool::BlockPool(std::vector<Bytes> image_bytes, Bytes budget)
    : heap_(std::make_shared<BlockHeap>(std::move(image_bytes), budget)) {}

BlockRef BlockPool::allocate(int64_t kind) {
  make_room(heap_->image_bytes(kind));
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
  result.made_of(source);
  heap_->count_copy(source.bytes());
  return result;
}

BlockRef
BlockPool::adopt(int64_t kind, std::shared_ptr<const std::byte> image) {
  heap_->image_bytes(kind); // checks the index
  expect(
      image && reinterpret_cast<uintptr_t>(image.get()) % kPageBytes == 0,
      "[pool] expected an image at a multiple of 4 KiB, got another place");
  auto block = std::make_unique<Block>();
  block->kind = kind;
  // Never written: it is sealed from the start.
  block->image = const_cast<std::byte*>(image.get());
  block->foreign = std::move(image);
  block->sealed = true;
  heap_->attach_foreign(*block);
  block->heap = heap_;
  return BlockRef(block.release());
}

void BlockPool::set_reclaimer(Reclaimer reclaimer) {
  reclaimer_ = std::move(reclaimer);
}

void BlockPool::make_room(Bytes more) {
  ensure(
      !reclaiming_,
      "[pool] expected a reclaimer that asks for no room, got one that does");
  const Bytes lacking = heap_->lacking(more);
  if (lacking == Bytes(0) || !reclaimer_) {
    return;
  }
  struct Turn {
    bool& running;
    ~Turn() {
      running = false;
    }
  } turn{reclaiming_ = true};
  reclaimer_(lacking);
}

void BlockPool::remember_successor(
    const BlockRef& block,
    const BlockRef& successor) {
  ensure(
      owns(block) && owns(successor) && block.sealed() && successor.sealed() &&
          block.kind() != successor.kind(),
      "[pool] expected two sealed blocks of this pool and of two kinds");
  heap_->link(*block.block_, *successor.block_);
}

BlockRef BlockPool::successor(const BlockRef& block, int64_t kind) const {
  ensure(owns(block), "[pool] expected a block of this pool, got another");
  return BlockRef::of_counted(heap_->acquire_successor(*block.block_, kind));
}

bool BlockPool::owns(const BlockRef& block) const {
  return block.block_->heap == heap_;
}

BudgetCharge BlockPool::charge(Bytes bytes) {
  make_room(bytes);
  heap_->charge(bytes);
  return {heap_, bytes};
}

BudgetCharge::~BudgetCharge() {
  if (heap_) {
    heap_->discharge(bytes_);
  }
}

void BlockPool::require(Bytes more) {
  make_room(more);
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

Bytes BlockPool::allocated_bytes() const {
  return heap_->account().allocated_bytes;
}

Bytes BlockPool::copied_bytes() const {
  return heap_->account().copied_bytes;
}

Bytes BlockPool::foreign_bytes() const {
  return heap_->account().foreign_bytes;
}

Bytes BlockPool::mapped_bytes() const {
  return heap_->account().mapped_bytes;
}

} // namespace holdfast
