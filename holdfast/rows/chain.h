// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One row's bookkeeping: how many positions are committed and written, which
// absolute blocks of each layer group the row therefore holds, and in which
// precision phase. It knows no block: whoever owns the blocks follows held().
//
// Invariants: 0 <= committed <= written; every group covers the same positions;
// sealing, releasing and phases look at committed positions alone; no append
// crosses the start of a phase, unless within a bidirectional span; no span is
// committed in part; a refused call changed nothing. A value, not thread safe.

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/rows/bidirectional.h"
#include "holdfast/rows/group_rule.h"
#include "holdfast/rows/held_blocks.h"

namespace holdfast {

/// Positions are 32-bit numbers where kernels meet them.
inline constexpr Position kMaxPositions{std::numeric_limits<int32_t>::max()};

/// What a chain of committed positions is, as a value to store.
struct ChainFacts {
  Position committed;
  std::vector<int64_t> phases; // [group]
  std::vector<BidirectionalSpan> spans = {};
  /// No shorter prefix of it is whole, whatever blocks it has: what another
  /// engine left of a window. 0: its blocks say it.
  Position least = {};
};

class Chain {
 public:
  /// groups: [group], at least one.
  Chain(const std::vector<GroupRule>& groups, int64_t block_tokens);

  /// A chain of that content that holds no more than its next query needs: as
  /// after the trim of a longer one. Throws kInvalidArgument for what no chain
  /// comes to: a phase that a cold run of this length would not be in, spans
  /// out of order or in part.
  static Chain restored(
      const std::vector<GroupRule>& groups,
      int64_t block_tokens,
      const ChainFacts& facts);

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
  /// The blocks of a group that hold, or will hold, written positions. Good
  /// until the next change.
  HeldBlocks held(int64_t group) const {
    return held(groups_.at(static_cast<size_t>(group)));
  }
  /// The first block that is not full of committed positions.
  BlockIndex sealed_end() const;
  /// The phase in which the group's blocks are stored.
  int64_t phase(int64_t group) const {
    return groups_.at(static_cast<size_t>(group)).phase;
  }
  /// The bidirectional spans of the committed positions.
  BidirectionalSpans spans() const {
    return spans_;
  }
  /// The phase that the committed positions call for: at most one more, save
  /// where a span covered the starts of several. The next append waits until
  /// the blocks are converted.
  int64_t due_phase(int64_t group) const;
  /// Any group's due phase is not its phase.
  bool due() const;
  /// From this length on a trim may leave any, but for the inside of spans: the
  /// next query finds its whole window in every group (0 if nothing was
  /// released); and at least the start of the last phase in which a group holds
  /// a block, because a cold run would hold less than that in the phase before;
  /// and ChainFacts::least; and the end of a span that it would cut.
  Position reusable_floor() const;
  /// The largest length up to `most` that a trim may leave. Below the floor
  /// these are 0, and those whose window lies in blocks that a group pinned or
  /// kept, in every group: of a group with a window of two, the lengths whose
  /// last position lies in a kept block. None is inside a span or below the
  /// start of a phase.
  Position reusable_length(Position most) const;
  /// The most positions that one append may take: to the next start of a phase,
  /// over all groups, and to kMaxPositions. Where a span covers that start, to
  /// the end of the span: the row converts there. spans: those that are to
  /// come, others may be among them.
  int64_t max_append(BidirectionalSpans spans = {}) const;
  /// How many of at most `wanted` >= 1 positions the next append takes so that
  /// it is within max_append() and cuts no span: it ends before the span, or
  /// takes all of it where that is the first to come, though it be longer than
  /// wanted. Throws kInvalidArgument where committed lies inside a span.
  int64_t fit_append(int64_t wanted, BidirectionalSpans spans) const;

  /// Says that a block of the group is stored in its due phase, others perhaps
  /// not: a conversion has begun.
  void begin_due_phase(int64_t group);
  /// Says that the group's blocks are now stored in its due phase.
  void enter_due_phase(int64_t group);
  /// Makes place for `count` tentative positions, 1 to max_append() with those
  /// that are tentative already. spans: of these positions alone, in order.
  /// Throws kInvalidArgument.
  void append(int64_t count, BidirectionalSpans spans = {});
  /// Throws kInvalidArgument unless 0 to all of the tentative positions can be
  /// accepted so: no span in part.
  void require_accepted(int64_t accepted) const;
  /// Settles the first `accepted` of the tentative positions, drops the others
  /// and releases blocks behind the windows. Throws as require_accepted().
  void commit(int64_t accepted);
  /// Drops the tentative positions.
  void rollback();
  /// Lowers committed to `to`, which is 0 (always possible: an empty row in its
  /// first phase) or its own reusable_length. Throws kInvalidArgument outside
  /// [0, committed] or while positions are tentative, kUnsupported for others.
  void trim(Position to);
  /// From here on keeps blocks by these rules, under which its own go on; what
  /// it holds stays. Throws kInvalidArgument for others.
  void keep_by(const std::vector<GroupRule>& rules);

 private:
  struct Group {
    GroupRule rule;
    BlockIndex first; // below it only pinned and kept blocks are held
    int64_t phase = 0;
    int64_t begun = 0; // phase, or the next once a block is stored in it
    std::vector<BlockIndex> kept = {}; // rising, in [pinned, first)
  };
  BlockIndex pinned(const Group& group) const;
  HeldBlocks held(const Group& group) const;
  /// Room for what the next commit keeps, so that it cannot fail.
  void reserve_kept(int64_t count);
  /// Lets go of what lies behind the window.
  void release(Group& group) const;
  /// The block in which the window of the query at `length` begins.
  BlockIndex window_begin(const Group& group, Position length) const;
  /// `length` where the group may be left with it, else a smaller length above
  /// which there is none.
  Position limit(const Group& group, Position length) const;
  /// What the window left, and what the phase needs.
  Position window_floor(const Group& group) const;
  static Position phase_floor(const Group& group);
  void require_reusable(Position to) const;
  /// The least start above committed, else kMaxPositions.
  Position next_start() const;
  /// Where the next append ends at the latest.
  Position append_end(BidirectionalSpans spans) const;
  void require_spans(int64_t count, BidirectionalSpans spans) const;
  /// Throws unless a cold run comes to the committed positions in that phase.
  void require_phase(const Group& group, int64_t phase) const;

  int64_t block_tokens_;
  std::vector<Group> groups_;
  Position committed_;
  Position written_;
  std::vector<BidirectionalSpan> spans_; // of the committed positions
  std::vector<BidirectionalSpan> tentative_;
  Position least_; // ChainFacts::least
};

} // namespace holdfast
