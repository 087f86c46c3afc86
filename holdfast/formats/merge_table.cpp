// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/merge_table.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace holdfast {

MergeTable::MergeTable(size_t count, HashSeed seed)
    : seed_(seed),
      slots_(std::bit_ceil(std::max<size_t>(count * 2, 16))),
      mask_(slots_.size() - 1) {}

void MergeTable::insert(TokenId left, TokenId right, Merge merge) {
  size_t passed = place(key_of(left, right), merge);
  while (passed > kCrowdedSearch && seeds_ < kMostSeeds) {
    passed = place_all_anew();
  }
}

size_t MergeTable::place(uint64_t key, Merge merge) {
  size_t at = place_of(key);
  size_t passed = 0;
  for (; slots_[at].key != kFree && slots_[at].key != key; ++passed) {
    at = (at + 1) & mask_;
  }
  slots_[at] = {key, merge};
  return passed;
}

size_t MergeTable::place_all_anew() {
  ++seeds_;
  seed_ = seed_.next();
  const auto before = std::exchange(slots_, std::vector<Slot>(slots_.size()));
  size_t most = 0;
  for (const Slot& slot : before) {
    if (slot.key != kFree) {
      most = std::max(most, place(slot.key, slot.merge));
    }
  }
  return most;
}

size_t MergeTable::passed(TokenId left, TokenId right) const {
  const uint64_t key = key_of(left, right);
  size_t count = 0;
  for (size_t at = place_of(key);
       slots_[at].key != kFree && slots_[at].key != key;
       at = (at + 1) & mask_) {
    ++count;
  }
  return count;
}

} // namespace holdfast
