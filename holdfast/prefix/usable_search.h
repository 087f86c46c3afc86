// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Internal to prefix/: the longest prefix of a matched prompt from which a row
// goes on. Goes down from the most that tokens allow; every group names the
// largest length below which it could be possible again, so that lengths are
// skipped and none that is possible is. Under the tree's lock, for one lookup.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "holdfast/prefix/tree_core.h"

namespace holdfast {

class UsableSearch {
 public:
  /// All outlive this.
  UsableSearch(
      const ScopeEntry& scope,
      const PathBlocks& blocks,
      const Matched& found);

  /// Fills in the length, the facts, the images and the gap.
  void run(Usable& result);

 private:
  /// What the path has in one slot.
  struct Slot {
    ImageSlot slot;
    PhaseBounds bounds; // where rows are in this phase
    int64_t leading = 0; // blocks from 0 on that have it
    std::vector<int32_t> since; // [k] blocks since[k] to k - 1 have it
    std::vector<Children::Match> at; // [k] the best image of block k; lazily
  };
  /// The largest length that a group allows, and what stood above it.
  struct Limit {
    Position length;
    BlockIndex block; // the last that was missing
    Slot* phase = nullptr; // in which it is possible
  };

  void scan(Slot& slot) const;
  const Children::Match& best(Slot& slot, int64_t block);
  Limit last_block_limit(int64_t group, Position length);
  Limit limit(int64_t group, const HeldBlocks& held, Position length);
  void lower(Slot& slot, int64_t block, Limit& to);
  void note_gap(Usable& result, int64_t group, const Limit& limit);
  void assemble(Usable& result, const std::vector<HeldBlocks>& held);
  Why::Gap gap_of(
      const Node* node,
      int64_t group,
      std::optional<Evicted>& evicted) const;

  const ScopeEntry& scope_;
  const PathBlocks& blocks_;
  const Matched& found_;
  std::vector<std::vector<Slot>> slots_; // [group][phase]
  std::vector<Slot*> chosen_; // [group]
};

} // namespace holdfast
