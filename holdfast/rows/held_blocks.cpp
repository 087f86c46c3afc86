// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/held_blocks.h"

#include <algorithm>

namespace holdfast {

bool HeldBlocks::holds(BlockIndex block) const {
  return block < end &&
      (block < pinned || block >= first ||
       std::ranges::binary_search(kept, block));
}

int64_t HeldBlocks::count() const {
  const BlockIndex leading = std::min(pinned, end);
  const BlockIndex rest = std::max(first, leading);
  return (leading + (end - std::min(rest, end))).get() + std::ssize(kept);
}

BlockIndex HeldBlocks::last_gap() const {
  BlockIndex gap = first - BlockIndex(1);
  for (auto last = kept.rbegin(); last != kept.rend() && *last == gap; ++last) {
    gap -= BlockIndex(1);
  }
  return gap >= pinned ? gap : BlockIndex(-1);
}

} // namespace holdfast
