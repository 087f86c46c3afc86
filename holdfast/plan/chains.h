// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The rows of a state and the blocks they hold: a Batch of Chains tied to a
// BlockPool. Rows change only here and only between steps: while a Transaction
// is open every other change is refused (kInvalidArgument).
//
// Invariants: a row holds exactly the blocks its chain names, in every group;
// blocks full of committed positions are sealed; an open block has one owner; a
// call that throws changed nothing. Transactions that outlive this have ended.
// Engine thread only.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "holdfast/block/block.h"
#include "holdfast/block/pool.h"
#include "holdfast/plan/transaction.h"
#include "holdfast/rows/batch.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

class Chains {
 public:
  /// The pool has one image kind a group, in order, and outlives this.
  /// retentions: [group].
  Chains(BlockPool& pool, std::vector<Retention> retentions);
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;
  ~Chains();

  /// An empty row, last in order. Costs no block.
  RowId add();
  /// A row, last in order, with the committed positions of `row`: full blocks
  /// are shared, an open tail is copied. Throws kOutOfBudget.
  RowId fork(RowId row);
  /// Takes the row out; its references are released. False where it is gone
  /// already, so that a request may be cancelled twice.
  bool remove(RowId row);
  /// `order` names every row once.
  void reorder(std::span<const RowId> order);
  /// Moves rows of `source` here, in the order given, behind those already
  /// here, and returns their new names. Handles move, no bytes. `source` stays
  /// usable without them. Both work on one pool with equal retentions. Merging
  /// a batch is adopt(source, source.order()), extracting rows an adopt into an
  /// empty one.
  std::vector<RowId> adopt(Chains& source, std::span<const RowId> rows);
  /// Lowers the row to its first `to` positions: see Chain::trim for what is
  /// refused. Where `to` lies inside a sealed block, the next step copies it.
  void trim(RowId row, Position to);

  /// Opens a step that appends to the given rows, in the order given. Throws
  /// kInvalidArgument (open step, no rows, count < 1, row named twice),
  /// kNotFound (unknown row), kOutOfBudget.
  Transaction begin(std::span<const RowAppend> appends);
  /// The bytes that begin would allocate.
  Bytes bytes_needed(std::span<const RowAppend> appends) const;

  std::span<const RowId> order() const {
    return batch_.order();
  }
  bool contains(RowId row) const {
    return batch_.contains(row);
  }
  RowIndex index_of(RowId row) const {
    return batch_.index_of(row);
  }
  /// A row's counts. The reference is good until the next change.
  const Chain& chain(RowId row) const;
  /// [block], null where the row released it. Good until the next change.
  std::span<const BlockRef> blocks(RowId row, int64_t group) const;
  /// The images that the row holds, shared or not.
  Bytes retained_bytes(RowId row) const;
  int64_t groups() const {
    return static_cast<int64_t>(retentions_.size());
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
  };
  void require_no_step(const char* where) const;
  Row& at(RowId row);
  const Row& at(RowId row) const;
  /// A new row, last in order, with that content.
  RowId add(Row row);
  /// The blocks [first, end) of a group that a step puts into a row; the first
  /// may take the place of a sealed tail.
  struct NewBlocks {
    int64_t first;
    int64_t end;
  };
  NewBlocks new_blocks(const RowAppend& append, int64_t group) const;
  /// The same for all rows and groups, still without references.
  std::vector<BlockPlacement>
  placements(std::span<const RowAppend> appends) const;
  /// Drops and seals blocks as the row's chain says.
  static void follow(Row& row) noexcept;
  void check_row(const Row& row) const;

  BlockPool& pool_;
  std::vector<Retention> retentions_;
  Batch batch_;
  std::vector<std::optional<Row>> rows_; // [slot]
  Transaction* open_ = nullptr; // the open step, wherever it was moved
};

} // namespace holdfast
