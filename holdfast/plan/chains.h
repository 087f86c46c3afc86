// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The rows of a state and the blocks they hold: a Batch of Chains tied to a
// BlockPool. Rows change only here and only between steps: while a Transaction
// is open every other change is refused (kInvalidArgument).
//
// Invariants: a row holds exactly the blocks its chain names, in every group
// and in the phase it names; blocks full of committed positions are sealed; an
// open block has one owner; a call that throws changed nothing, but for begin
// where a codec fails: blocks that were converted by then stay so, and read the
// same. Transactions that outlive this have ended. Engine thread only.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "holdfast/block/block.h"
#include "holdfast/block/pool.h"
#include "holdfast/plan/conversion.h"
#include "holdfast/plan/tail_image.h"
#include "holdfast/plan/transaction.h"
#include "holdfast/rows/batch.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

/// One row's chain with its blocks, outside any batch. Full blocks are shared,
/// a tail is a copy that holds the row's positions and nothing else; all are
/// sealed. A value; any thread.
struct CapturedRow {
  std::vector<GroupRule> rules; // [group]
  Chain chain;
  std::vector<std::vector<BlockRef>> blocks; // [group][block]

  Bytes bytes() const; // whole images, shared or not
};

/// The row of these facts from stored blocks: [group], each with the blocks
/// that Chain::restored holds, in order of index. Those of the last index may
/// hold positions behind the committed ones, of whatever tokens: the next step
/// copies them and writes its own. Throws kInvalidArgument for another number
/// of blocks, blocks of another group or phase (image kinds are one a group and
/// phase, in order) and what Chain::restored refuses.
CapturedRow assemble(
    const std::vector<GroupRule>& rules,
    const ChainFacts& facts,
    const std::vector<std::vector<BlockRef>>& held);

/// A block full of committed positions, as it became so in some phase.
struct SealedBlock {
  int64_t group = 0;
  int64_t phase = 0;
  BlockIndex index;
  BlockRef block;
};

/// The sum of the whole images. blocks: [group][block], null ones left out.
Bytes block_bytes(const std::vector<std::vector<BlockRef>>& blocks);

class Chains {
 public:
  /// The pool has one image kind a group and phase, in order, and outlives
  /// this. rules: [group]. `convert` is needed where a rule has phases; `blank`
  /// where images have bytes behind a row's positions that nobody may be given:
  /// captured tails go through it.
  Chains(
      BlockPool& pool,
      std::vector<GroupRule> rules,
      BlockConverter convert = nullptr,
      TailBlanker blank = nullptr);
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;
  ~Chains();

  /// An empty row, last in order. Costs no block.
  RowId add();
  /// A row, last in order, with the committed positions of `row`: full blocks
  /// are shared, an open tail is copied. Throws kOutOfBudget.
  RowId fork(RowId row);
  /// Forks of rows of `source`, in the order given, behind those already here;
  /// all or none. `source`, which has the same pool and rules and may be this,
  /// stays as it is.
  std::vector<RowId> copy(const Chains& source, std::span<const RowId> rows);
  /// Moves rows of `source` here, in the order given, behind those already
  /// here, and returns their new names. Handles move, no bytes. `source` stays
  /// usable without them. Both work on one pool with equal rules.
  std::vector<RowId> adopt(Chains& source, std::span<const RowId> rows);
  /// Takes the row out; its references are released. False where it is gone
  /// already, so that a request may be cancelled twice.
  bool remove(RowId row);
  /// Keeps these rows, in this order, and takes the others out.
  void filter(std::span<const RowId> keep);
  /// `order` names every row once.
  void reorder(std::span<const RowId> order);
  /// Lowers the row to its first `to` positions: see Chain::trim for what is
  /// refused. Where `to` lies inside a sealed block, the next step copies it.
  void trim(RowId row, Position to);
  /// The row as a value; the row stays. Its tails are copied, open or sealed
  /// (what was trimmed or shared has other positions behind the row's), and
  /// made blank behind its positions. Throws kOutOfBudget where they find no
  /// room.
  CapturedRow capture(RowId row);
  /// [row][block]: the blocks of one group, for whoever reads what the rows see
  /// and keeps none of it: open tails copied as they are, and sealed.
  /// Throws kNotFound, kOutOfBudget where the tails find no room: all rows or
  /// none.
  std::vector<std::vector<BlockRef>>
  hold(std::span<const RowId> rows, int64_t group);
  /// A row, last in order, with what was captured from rows of equal image
  /// sizes and rules (in any pool), but for how much they keep behind a window:
  /// it holds what was held there, and keeps by the rules here from then on.
  /// Blocks of this pool are shared, others copied. Throws kInvalidArgument for
  /// others and for a row whose blocks are not those that its chain names,
  /// kOutOfBudget.
  RowId add(const CapturedRow& captured);

  /// Opens a step that appends to the given rows, in the order given. Rows that
  /// are due are converted first, once nothing can be refused any more. Throws
  /// kInvalidArgument (open step, no rows, count < 1 or above the row's
  /// max_append(), a bidirectional span cut, row named twice), kNotFound
  /// (unknown row), kOutOfBudget.
  Transaction begin(std::span<const RowAppend> appends);
  /// The most by which live bytes grow while begin runs, conversions included.
  Bytes bytes_needed(std::span<const RowAppend> appends) const;
  /// The most bytes that the row's images take while it grows by `tokens`
  /// positions, at most `at_once` of them tentative at a time: as if it shared
  /// nothing, whole blocks, both phases of a conversion. spans: those among
  /// the tokens, each at once.
  Bytes projected_bytes(
      RowId row,
      int64_t tokens,
      int64_t at_once,
      BidirectionalSpans spans = {}) const;

  /// From here on, or no longer, the row keeps what becomes a full block in it,
  /// for take_sealed: also what a window releases at once, and what a
  /// conversion makes. Such blocks are held until they are taken or the row
  /// goes. What is copied from a row keeps nothing; what is moved goes on.
  void keep_sealed(RowId row, bool keep);
  /// The blocks that became full since the last call, in order of index within
  /// each group and phase; none beyond what a trim left.
  std::vector<SealedBlock> take_sealed(RowId row);

  std::span<const RowId> order() const {
    return batch_.order();
  }
  bool contains(RowId row) const {
    return batch_.contains(row);
  }
  /// A row's counts. The reference is good until the next change.
  const Chain& chain(RowId row) const;
  /// [block], null where the row released it. Good until the next change.
  std::span<const BlockRef> blocks(RowId row, int64_t group) const;
  /// False where a block of the row is not (BlockRef::intact).
  bool intact(RowId row) const;
  /// The images that the row holds, shared or not.
  Bytes retained_bytes(RowId row) const;
  int64_t groups() const {
    return static_cast<int64_t>(rules_.size());
  }
  const std::vector<GroupRule>& rules() const {
    return rules_;
  }
  /// The image kind of a group's phase.
  int64_t kind(int64_t group, int64_t phase) const {
    return first_kind_.at(static_cast<size_t>(group)) + phase;
  }
  /// The phase of a group that has this image kind.
  int64_t phase_of_kind(int64_t group, int64_t kind) const {
    return kind - first_kind_.at(static_cast<size_t>(group));
  }
  /// The generation of the open step, 0 where none is open. No two steps of the
  /// process have the same.
  uint64_t open_generation() const;
  /// Throws kInternal where an invariant is broken. For tests; O(blocks).
  void check_invariants() const;

 private:
  friend class Transaction;
  struct Row {
    Chain chain;
    std::vector<std::vector<BlockRef>> blocks; // [group][block]
    bool keeps_sealed = false;
    std::vector<SealedBlock> sealed = {}; // not yet taken
  };
  class Growth;
  void require_no_step(const char* where) const;
  Row& at(RowId row);
  const Row& at(RowId row) const;
  /// Room for so many more rows: adding these throws nothing.
  void reserve(size_t more);
  /// A new row, last in order, with that content.
  RowId add(Row row);
  /// The rows' content with open tails copied, all tails together within the
  /// budget.
  std::vector<Row> copies(const Chains& source, std::span<const RowId> rows);
  /// The blocks [first, end) of a group that a step puts into a row; the first
  /// may take the place of a sealed tail. As after the conversion of a row that
  /// is due.
  struct NewBlocks {
    int64_t first;
    int64_t end;
  };
  /// The next step puts a copy in the place of the group's sealed tail.
  bool copies_tail(const Row& row, int64_t group) const;
  NewBlocks new_blocks(const RowAppend& append, int64_t group) const;
  /// The same for all rows and groups, still without references.
  std::vector<BlockPlacement>
  placements(std::span<const RowAppend> appends) const;
  /// What full blocks have become, by image and kind. Whoever counts on them,
  /// or converts, holds them meanwhile; rows of one step share through it.
  using Converted = std::map<std::pair<const std::byte*, int64_t>, BlockRef>;
  /// Stores the row in its due phases, block by block: a block that was
  /// converted stays so whatever happens to the next.
  void convert(Row& row, Converted& done);
  BlockRef
  converted(const Row& row, int64_t group, int64_t block, Converted& done);
  void
  count_conversion(const Row& row, const Converted& done, Growth& growth) const;
  /// The block in that phase of its group, where others have it; else null.
  BlockRef known_in(const BlockRef& block, int64_t group, int64_t phase) const;
  /// Those that rows which are due find converted already.
  Converted known_for(std::span<const RowAppend> appends) const;
  /// bytes_needed, by a caller who holds those.
  Bytes
  growth_of(std::span<const RowAppend> appends, const Converted& done) const;
  /// The most that the conversion of one block takes beside it.
  Bytes beside_conversion(int64_t group, int64_t from, int64_t to) const;
  /// Drops and seals blocks as the row's chain says. A row that keeps what it
  /// seals has room for that: see reserve_sealed.
  void follow(Row& row) const noexcept;
  /// Room for the blocks that become full with an append.
  void reserve_sealed(const RowAppend& append);
  void check_row(const Row& row) const;
  void check_block(const Row& row, int64_t group, int64_t index) const;

  BlockPool& pool_;
  std::vector<GroupRule> rules_;
  std::vector<int64_t> first_kind_; // [group]
  BlockConverter convert_;
  TailBlanker blank_;
  Batch batch_;
  std::vector<std::optional<Row>> rows_; // [slot]
  Transaction* open_ = nullptr; // the open step, wherever it was moved
};

} // namespace holdfast
