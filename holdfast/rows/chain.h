// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One row's bookkeeping: how many positions are committed and written, and
// which absolute blocks of each layer group the row therefore holds. It knows
// no block: whoever owns the blocks follows held().
//
// Invariants: 0 <= committed <= written; every group covers the same positions;
// sealing and releasing look at committed positions alone; a refused call
// changed nothing. A value, not thread safe.

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "holdfast/base/strong.h"

namespace holdfast {

/// What a layer group keeps of a chain: all of it, or what a window and its
/// leading sinks can still see.
struct Retention {
  int64_t window = 0; // positions a query sees, itself included; 0: all
  int64_t sinks = 0; // leading positions kept beside a window

  bool operator==(const Retention&) const = default;
};

/// The blocks [0, pinned) and [first, end), as far as they are below end.
struct HeldBlocks {
  BlockIndex pinned;
  BlockIndex first;
  BlockIndex end;

  bool holds(BlockIndex block) const {
    return block < end && (block < pinned || block >= first);
  }
  int64_t count() const;
  bool operator==(const HeldBlocks&) const = default;
};

/// Positions are 32-bit numbers where kernels meet them.
inline constexpr Position kMaxPositions{std::numeric_limits<int32_t>::max()};

class Chain {
 public:
  /// groups: [group], at least one.
  Chain(const std::vector<Retention>& groups, int64_t block_tokens);

  /// Positions that are settled.
  Position committed() const {
    return committed_;
  }
  /// Positions that have a place; those beyond committed() are tentative.
  Position written() const {
    return written_;
  }
  int64_t groups() const {
    return static_cast<int64_t>(groups_.size());
  }
  /// The blocks of a group that hold, or will hold, written positions.
  HeldBlocks held(int64_t group) const;
  /// The first block that is not full of committed positions.
  BlockIndex sealed_end() const;
  /// 0 if nothing was released; else the smallest length at which the next
  /// query still finds its whole window, over all groups.
  Position reusable_floor() const;

  /// Makes place for `count` >= 1 more tentative positions, kMaxPositions in
  /// all. Throws kInvalidArgument.
  void append(int64_t count);
  /// Settles the first `accepted` of the tentative positions, drops the others
  /// and releases blocks behind the windows.
  void commit(int64_t accepted);
  /// Drops the tentative positions.
  void rollback();
  /// Lowers committed to `to`, which is 0 (always possible: an empty row) or
  /// in [reusable_floor, committed]. Throws kInvalidArgument outside
  /// [0, committed] or while positions are tentative, kUnsupported below the
  /// floor.
  void trim(Position to);

 private:
  struct Group {
    Retention retention;
    BlockIndex first; // below it only pinned blocks are held
  };
  BlockIndex pinned(const Group& group) const;

  int64_t block_tokens_;
  std::vector<Group> groups_;
  Position committed_;
  Position written_;
};

} // namespace holdfast
