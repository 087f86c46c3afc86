// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/heap.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/env/pages.h"

namespace holdfast {

namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;

} // namespace

bool SlabIsOlder::operator()(const BlockSlab* a, const BlockSlab* b) const {
  return a->sequence < b->sequence;
}

BlockHeap::BlockHeap(std::vector<Bytes> image_bytes, Bytes budget)
    : budget_(budget), kinds_(image_bytes.size()) {
  expect(
      !image_bytes.empty() && budget.get() >= 0,
      "[pool] expected an image size a kind and a budget >= 0, got none");
  for (size_t kind = 0; kind < image_bytes.size(); ++kind) {
    const int64_t bytes = image_bytes[kind].get();
    expect(
        bytes > 0 && bytes % kPage == 0,
        "[pool] expected images of whole 4 KiB pages, got another size");
    kinds_[kind].image_bytes = image_bytes[kind];
  }
}

void BlockHeap::attach(Block& block) {
  bool touched = false;
  {
    std::lock_guard lock(mutex_);
    Kind& kind = kinds_[static_cast<size_t>(block.kind)];
    require_locked(kind.image_bytes);
    BlockSlab& slab = slab_with_room(kind);
    int64_t index = slab.untouched;
    touched = !slab.returned.empty();
    if (touched) {
      index = slab.returned.back();
      slab.returned.pop_back();
    } else {
      ++slab.untouched;
    }
    if (kind.drained == &slab) {
      kind.drained = nullptr;
    }
    if (slab.live() == slab.images) {
      slab.seat = kind.with_room.extract(&slab);
    }
    block.image = slab.memory.get() + index * kind.image_bytes.get();
    block.bytes = kind.image_bytes;
    block.slab = &slab;
    add_live_locked(kind.image_bytes);
    account_.allocated_bytes += kind.image_bytes;
    ++account_.live_blocks;
  }
  if (touched) {
    std::memset(block.image, 0, static_cast<size_t>(block.bytes.get()));
  }
}

void BlockHeap::attach_foreign(Block& block) {
  std::lock_guard lock(mutex_);
  block.bytes = kinds_[static_cast<size_t>(block.kind)].image_bytes;
  account_.foreign_bytes += block.bytes;
  ++account_.live_blocks;
}

BlockSlab& BlockHeap::slab_with_room(Kind& kind) {
  if (!kind.with_room.empty()) {
    return **kind.with_room.begin();
  }
  // At least a huge page, so that it is aligned to one.
  const int64_t images = ceil_div(kHugePage, kind.image_bytes.get());
  const Bytes bytes(images * kind.image_bytes.get());
  kind.slabs.push_back(
      {.memory = allocate_pages(bytes.get()),
       .bytes = bytes,
       .sequence = next_sequence_++,
       .images = images,
       .untouched = 0,
       .returned = {},
       .seat = {},
       .self = {}});
  BlockSlab& slab = kind.slabs.back();
  slab.self = std::prev(kind.slabs.end());
  try {
    slab.returned.reserve(static_cast<size_t>(images)); // take_back is noexcept
    kind.with_room.insert(&slab);
  } catch (...) {
    kind.slabs.pop_back();
    throw;
  }
  account_.mapped_bytes += slab.bytes;
  return slab;
}

void BlockHeap::take_back(Block& block) noexcept {
  std::lock_guard lock(mutex_);
  unlink_locked(block);
  --account_.live_blocks;
  if (block.slab == nullptr) {
    account_.foreign_bytes -= block.bytes;
    return;
  }
  Kind& kind = kinds_[static_cast<size_t>(block.kind)];
  BlockSlab& slab = *block.slab;
  if (slab.live() == slab.images) {
    kind.with_room.insert(std::move(slab.seat));
  }
  slab.returned.push_back(
      (block.image - slab.memory.get()) / kind.image_bytes.get());
  account_.live_bytes -= kind.image_bytes;
  if (slab.live() > 0) {
    return;
  }
  if (kind.drained == nullptr) {
    kind.drained = &slab;
    return;
  }
  account_.mapped_bytes -= slab.bytes;
  kind.with_room.erase(&slab);
  kind.slabs.erase(slab.self);
}

void BlockHeap::add_live_locked(Bytes bytes) {
  account_.live_bytes += bytes;
  account_.peak_bytes = std::max(account_.peak_bytes, account_.live_bytes);
}

void BlockHeap::charge(Bytes bytes) {
  std::lock_guard lock(mutex_);
  require_locked(bytes);
  add_live_locked(bytes);
}

void BlockHeap::discharge(Bytes bytes) noexcept {
  std::lock_guard lock(mutex_);
  account_.live_bytes -= bytes;
}

void BlockHeap::count_copy(Bytes bytes) {
  std::lock_guard lock(mutex_);
  account_.copied_bytes += bytes;
}

void BlockHeap::unlink_locked(Block& block) noexcept {
  if (block.successor) {
    std::exchange(block.successor, nullptr)->origin = nullptr;
  }
  if (block.origin) {
    std::exchange(block.origin, nullptr)->successor = nullptr;
  }
}

void BlockHeap::link(Block& block, Block& successor) {
  std::lock_guard lock(mutex_);
  if (block.successor) {
    std::exchange(block.successor, nullptr)->origin = nullptr;
  }
  if (successor.origin) {
    std::exchange(successor.origin, nullptr)->successor = nullptr;
  }
  block.successor = &successor;
  successor.origin = &block;
}

Block* BlockHeap::acquire_successor(Block& block, int64_t kind) {
  std::lock_guard lock(mutex_);
  Block* successor = block.successor;
  if (!successor || successor->kind != kind) {
    return nullptr;
  }
  // Its last reference may be gone while take_back waits for the lock.
  int64_t references = successor->references.load(std::memory_order_relaxed);
  while (references > 0 &&
         !successor->references.compare_exchange_weak(
             references, references + 1, std::memory_order_acq_rel)) {
  }
  return references > 0 ? successor : nullptr;
}

void BlockHeap::require(Bytes more) const {
  std::lock_guard lock(mutex_);
  require_locked(more);
}

Bytes BlockHeap::lacking(Bytes more) const {
  std::lock_guard lock(mutex_);
  return std::max(Bytes(0), more - (budget_ - account_.live_bytes));
}

void BlockHeap::require_locked(Bytes more) const {
  if (more > budget_ - account_.live_bytes) {
    throw Error(
        ErrorCode::kOutOfBudget,
        "[pool] expected at most " +
            std::to_string((budget_ - account_.live_bytes).get()) +
            " more bytes of state (budget " + std::to_string(budget_.get()) +
            ", live " + std::to_string(account_.live_bytes.get()) + "), got " +
            std::to_string(more.get()));
  }
}

BlockAccount BlockHeap::account() const {
  std::lock_guard lock(mutex_);
  return account_;
}

Bytes BlockHeap::image_bytes(int64_t kind) const {
  expect(
      kind >= 0 && kind < kinds(),
      "[pool] expected the index of an image kind, got one out of range");
  return kinds_[static_cast<size_t>(kind)].image_bytes;
}

} // namespace holdfast
