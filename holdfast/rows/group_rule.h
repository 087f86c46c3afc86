// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a layer group keeps of a chain (all of it, or what a window and its
// leading sinks can still see), and where its precision changes. Chains follow
// it, and projections ask it what they will do. A value; any thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast {

struct GroupRule {
  int64_t window = 0; // positions a query sees, itself included; 0: all
  int64_t sinks = 0; // leading positions kept beside a window
  /// Phase i + 1 stores what is committed from starts[i] committed positions
  /// on, the earlier ones included. Rising, each at least 1.
  std::vector<Position> starts = {};
  /// Of the blocks behind the window, those stay whose end is a multiple of so
  /// many blocks: b where (b + 1) % keep_every == 0. 0: none.
  int64_t keep_every = 0;

  int64_t phases() const {
    return static_cast<int64_t>(starts.size()) + 1;
  }
  /// The phase that so many committed positions call for.
  int64_t phase_at(Position committed) const {
    return std::upper_bound(starts.begin(), starts.end(), committed) -
        starts.begin();
  }
  /// The first block that the window keeps of so many committed positions. A
  /// block goes when its last position is < committed - window. So position
  /// committed - window stays, one more than the next query sees: the last
  /// token can be computed again.
  BlockIndex first_held(Position committed, int64_t block_tokens) const {
    const int64_t behind = window > 0 ? committed.get() - window : 0;
    return BlockIndex(std::max<int64_t>(0, behind) / block_tokens);
  }
  /// The first block from `from` on that keep_every keeps, which is not 0.
  BlockIndex next_kept(BlockIndex from) const {
    return BlockIndex(from.get() / keep_every * keep_every + keep_every - 1);
  }
  /// How many it keeps of the blocks [begin, end).
  int64_t kept_of(BlockIndex begin, BlockIndex end) const {
    return keep_every > 0 && end > begin
        ? end.get() / keep_every - begin.get() / keep_every
        : 0;
  }
  /// A row of one goes on under the other: they differ at most in how much is
  /// kept to go back to.
  bool goes_on_under(const GroupRule& other) const {
    return window == other.window && sinks == other.sinks &&
        starts == other.starts;
  }
  bool operator==(const GroupRule&) const = default;
};

} // namespace holdfast
