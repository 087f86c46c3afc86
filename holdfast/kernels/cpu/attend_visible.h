// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a query may see, as the kernels read it: 64 bits a block, one a key, or
// the positions from one to another. Every kernel takes it from here, so masks
// and keys cannot have different columns. The reference read says the rule
// itself, in other words, to be an oracle of this too. Pure functions; any
// thread.

#pragma once

#include <algorithm>
#include <cstdint>

#include "holdfast/base/bits.h"
#include "holdfast/block/layout.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::cpu {

static_assert(kBlockTokens == 64, "a block's mask is one 64-bit word");

/// The n lowest bits; n below 0 counts as 0 and above 64 as 64.
constexpr uint64_t lowest_bits(int64_t n) {
  return n <= 0 ? 0 : n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// A query: its position, and the positions [begin, end) outside of which it
/// sees nothing, whatever the window.
struct Sight {
  int64_t position = 0;
  int64_t end = 0;
  int64_t begin = 0;
};

inline Sight
sight_at(const Visibility& visibility, const RowSpan& row, int64_t position) {
  const int64_t next = position + 1;
  return {
      .position = position,
      .end = visibility.spans ? row.seen_end(position)
                              : std::min(next, row.seen_to.value_or(next)),
      .begin = row.seen_from};
}

/// The positions [first, end) that a query sees, sinks before the window apart;
/// none where end <= first.
constexpr int64_t first_seen(const Visibility& visibility, const Sight& query) {
  const int64_t first = query.position + 1 - visibility.window;
  return visibility.window == 0 ? query.begin : std::max(first, query.begin);
}
constexpr int64_t end_seen(const Visibility& visibility, const Sight& query) {
  const int64_t end = query.position + visibility.window;
  return visibility.window == 0 ? query.end : std::min(end, query.end);
}

/// Bit j: the query sees position block * 64 + j.
constexpr uint64_t
visible_keys(const Visibility& visibility, const Sight& query, int64_t block) {
  const int64_t base = block * kBlockTokens;
  const uint64_t known =
      lowest_bits(query.end - base) & ~lowest_bits(query.begin - base);
  if (visibility.window == 0) {
    return known;
  }
  const uint64_t window = lowest_bits(end_seen(visibility, query) - base) &
      ~lowest_bits(first_seen(visibility, query) - base);
  return known & (window | lowest_bits(visibility.sinks - base));
}

/// False where a query of the row at that position has no key at all.
inline bool
sees_any(const Visibility& visibility, const RowSpan& row, int64_t position) {
  const Sight query = sight_at(visibility, row, position);
  return first_seen(visibility, query) < end_seen(visibility, query) ||
      (visibility.window > 0 &&
       query.begin < std::min(visibility.sinks, query.end));
}

/// The blocks that a row's queries at positions [first, last] may see: sink
/// blocks [0, sink_blocks) and blocks [begin, end), the former below the
/// latter.
struct VisibleBlocks {
  int64_t sink_blocks = 0;
  int64_t begin = 0;
  int64_t end = 0;

  bool has(int64_t block) const {
    return block < sink_blocks || (block >= begin && block < end);
  }
  int64_t count() const {
    return sink_blocks + end - begin;
  }
};

inline VisibleBlocks visible_blocks(
    const Visibility& visibility,
    const RowSpan& row,
    int64_t first,
    int64_t last) {
  VisibleBlocks blocks;
  int64_t end = sight_at(visibility, row, last).end;
  if (visibility.window > 0) {
    end = std::min(end, std::max(last + visibility.window, visibility.sinks));
  }
  blocks.end = ceil_div(end, kBlockTokens);
  const int64_t window = visibility.window > 0
      ? std::max<int64_t>(first + 1 - visibility.window, 0)
      : 0;
  const int64_t begin = std::max(window, row.seen_from);
  // A view's window may begin behind all that is written: sinks remain.
  blocks.begin = begin < end ? begin / kBlockTokens : blocks.end;
  if (row.seen_from < std::min(window, visibility.sinks)) {
    const int64_t sinks = ceil_div(visibility.sinks, kBlockTokens);
    blocks.sink_blocks = std::min(sinks, blocks.begin);
  }
  return blocks;
}

} // namespace holdfast::cpu
