// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// An open step over the rows of a Chains: commit settles some of what was
// appended, everything else leaves the rows as they were. For all groups at
// once. Engine thread only.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "holdfast/base/strong.h"
#include "holdfast/block/block.h"
#include "holdfast/plan/step_plan.h"
#include "holdfast/rows/batch.h"

namespace holdfast {

class Chains;

/// A block that a step puts into a row: a fresh one behind its last, or a copy
/// in the place of a sealed tail.
struct BlockPlacement {
  uint32_t slot = 0;
  int64_t group = 0;
  BlockIndex block;
  bool placed = false;
  BlockRef other; // what to place; once placed, what was there before
};

class Transaction {
 public:
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  /// Rolls back where still open.
  ~Transaction();

  bool open() const {
    return chains_ != nullptr;
  }
  /// The plan. Its images may be used while the step is open; the numbers stay.
  const std::shared_ptr<const StepPlan>& plan() const {
    return plan_;
  }
  /// Throws kCorrupt where a block of its rows is not intact (BlockRef), so
  /// that what was read of it means nothing.
  void require_intact() const;
  /// Throws what commit(accepted) would; a commit of them throws nothing then.
  void require_counts(std::span<const int64_t> accepted) const;
  /// Settles the first accepted[i], 0 .. count, positions of the i-th row of
  /// the step and ends it. Throws kStale on an ended step, kInvalidArgument for
  /// wrong counts and a bidirectional span in part; then nothing changed.
  void commit(std::span<const int64_t> accepted);
  /// Accepts everything.
  void commit_all();
  /// Ends the step: nothing happened. A step that ended already stays so.
  void rollback() noexcept;

 private:
  friend class Chains;
  Transaction(
      Chains& chains,
      std::span<const RowAppend> appends,
      std::vector<BlockPlacement> placements);
  /// Puts the blocks into their rows and makes the plan.
  void place();
  void restore(uint32_t slot) noexcept;
  void finish() noexcept;

  Chains* chains_; // null: ended
  uint64_t generation_;
  std::vector<RowAppend> appends_;
  std::vector<BlockPlacement> placements_;
  std::shared_ptr<const StepPlan> plan_;
};

} // namespace holdfast
