// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a query may see, as the kernels read it: 64 bits a block, one a key.
// Every read of a chain takes its mask from here, so masks and keys cannot have
// different columns. Pure functions; any thread.

#pragma once

#include <cstdint>

#include "holdfast/block/layout.h"
#include "holdfast/plan/layer_spec.h"

namespace holdfast::cpu {

static_assert(kBlockTokens == 64, "a block's mask is one 64-bit word");

/// The n lowest bits; n below 0 counts as 0 and above 64 as 64.
constexpr uint64_t lowest_bits(int64_t n) {
  return n <= 0 ? 0 : n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// Bit j: the query at `position` sees position block * 64 + j.
constexpr uint64_t
visible_keys(const Visibility& visibility, int64_t position, int64_t block) {
  const int64_t base = block * kBlockTokens;
  const uint64_t causal = lowest_bits(position + 1 - base);
  if (visibility.window == 0) {
    return causal;
  }
  const uint64_t window = ~lowest_bits(position + 1 - visibility.window - base);
  return causal & (window | lowest_bits(visibility.sinks - base));
}

/// The blocks that queries at positions [first, last] may see: sink blocks
/// [0, sink_blocks) and blocks [begin, end), the former below the latter.
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

constexpr VisibleBlocks
visible_blocks(const Visibility& visibility, int64_t first, int64_t last) {
  VisibleBlocks blocks{.end = last / kBlockTokens + 1};
  if (visibility.window > 0 && first >= visibility.window) {
    blocks.begin = (first + 1 - visibility.window) / kBlockTokens;
    const int64_t sinks = (visibility.sinks + kBlockTokens - 1) / kBlockTokens;
    blocks.sink_blocks = sinks < blocks.begin ? sinks : blocks.begin;
  }
  return blocks;
}

} // namespace holdfast::cpu
