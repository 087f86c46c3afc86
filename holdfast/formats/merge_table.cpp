// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/merge_table.h"

#include <algorithm>
#include <bit>

namespace holdfast {

MergeTable::MergeTable(size_t count)
    : slots_(std::bit_ceil(std::max<size_t>(count * 2, 16))),
      mask_(slots_.size() - 1) {}

void MergeTable::insert(TokenId left, TokenId right, Merge merge) {
  const uint64_t key = key_of(left, right);
  size_t place = place_of(key);
  while (slots_[place].key != kFree && slots_[place].key != key) {
    place = (place + 1) & mask_;
  }
  slots_[place] = {key, merge};
}

} // namespace holdfast
