// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/objects/object_budget.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "holdfast/base/bits.h"

namespace holdfast {

namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kPage = 4096;

} // namespace

struct ObjectBudget::Count {
  mutable std::mutex mutex;
  Bytes live;
  Bytes limit;
  std::shared_ptr<SharedRam> heir; // of what is let go of; none: the limit

  Bytes unused() const {
    return limit - live;
  }
  Bytes lacking(Bytes more) const {
    return std::max(Bytes(0), live + more - limit);
  }
};

ObjectBudget::ObjectBudget(Bytes limit) : count_(std::make_shared<Count>()) {
  count_->limit = limit;
}

Bytes ObjectBudget::live() const {
  const std::lock_guard lock(count_->mutex);
  return count_->live;
}

Bytes ObjectBudget::limit() const {
  const std::lock_guard lock(count_->mutex);
  return count_->limit;
}

void ObjectBudget::set_limit(Bytes limit) {
  const std::lock_guard lock(count_->mutex);
  count_->limit = limit;
}

Bytes ObjectBudget::lacking(Bytes more) const {
  const std::lock_guard lock(count_->mutex);
  return count_->lacking(more);
}

Bytes ObjectBudget::unused() const {
  const std::lock_guard lock(count_->mutex);
  return count_->unused();
}

Bytes ObjectBudget::lower(Bytes wanted) {
  const std::lock_guard lock(count_->mutex);
  const Bytes lower = std::clamp(count_->unused(), Bytes(0), wanted);
  count_->limit -= lower;
  return lower;
}

void ObjectBudget::raise(Bytes more) {
  const std::lock_guard lock(count_->mutex);
  count_->limit += more;
}

void ObjectBudget::end(std::shared_ptr<SharedRam> shared) {
  const std::lock_guard lock(count_->mutex);
  shared->give_back(count_->unused());
  count_->limit = count_->live;
  count_->heir = std::move(shared);
}

Bytes ObjectBudget::own_bytes(Bytes size) {
  return Bytes(round_up(size.get(), kAlignment));
}

Bytes ObjectBudget::foreign_bytes(Bytes size) {
  return Bytes(round_up(size.get(), kPage));
}

std::shared_ptr<void> ObjectBudget::charge(Bytes bytes) {
  {
    const std::lock_guard lock(count_->mutex);
    if (count_->lacking(bytes) > Bytes(0)) {
      return nullptr;
    }
    count_->live += bytes;
  }
  // A pointer that is not null, so that it can stand for the charge; where this
  // throws, the deleter has run.
  return {static_cast<void*>(count_.get()), [count = count_, bytes](void*) {
            const std::lock_guard lock(count->mutex);
            count->live -= bytes;
            if (count->heir) {
              count->limit -= bytes;
              count->heir->give_back(bytes);
            }
          }};
}

std::optional<OpenObject> ObjectBudget::open(Bytes size) {
  const Bytes held = own_bytes(size);
  std::shared_ptr<void> charged = charge(held);
  if (!charged) {
    return std::nullopt;
  }
  auto* memory = static_cast<std::byte*>(
      std::aligned_alloc(kAlignment, static_cast<size_t>(held.get())));
  if (!memory) {
    throw std::bad_alloc();
  }
  // The charge goes after the memory.
  return OpenObject(
      std::shared_ptr<std::byte>(
          memory,
          [charged = std::move(charged)](std::byte* at) { std::free(at); }),
      size,
      held);
}

std::optional<Object>
ObjectBudget::adopt(std::shared_ptr<const std::byte> bytes, Bytes size) {
  const Bytes held = foreign_bytes(size);
  std::shared_ptr<void> charged = charge(held);
  if (!charged) {
    return std::nullopt;
  }
  const std::byte* address = bytes.get();
  auto both = std::make_shared<
      std::pair<std::shared_ptr<void>, std::shared_ptr<const std::byte>>>(
      std::move(charged), std::move(bytes));
  return Object(
      {std::move(both), address}, size, held, Object::Memory::kMapped);
}

} // namespace holdfast
