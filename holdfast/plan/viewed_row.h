// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The committed positions of a row in one layer group, as a view reads them.
// It names blocks and holds none: an open block keeps its one owner. Values;
// the functions read chains: engine thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/plan/chains.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast {

struct ViewedRow {
  RowId row;
  Position length; // committed
  std::vector<BidirectionalSpan> spans; // of these positions
  RowBlocks blocks; // only to be read
};

/// The row as it is. Throws kNotFound for a row that is not there,
/// kInvalidArgument where a step over it is open, kUnsupported where a change
/// of its precision was broken off (the next step ends it).
ViewedRow viewed_row(const Chains& chains, RowId row, int64_t group);

/// The row still is what was seen, if this was asked after each change of it.
bool unchanged(const Chains& chains, const ViewedRow& seen, int64_t group);

/// Rows that nothing changes any more: their sealed blocks, and copies of the
/// open tails. Holds them until it goes; any thread.
struct FrozenRows {
  std::vector<ViewedRow> rows;
  std::vector<std::vector<BlockRef>> blocks; // [row][block], null: released

  Bytes bytes() const; // whole images, shared or not
};

/// The rows in one group, all or none. Throws as viewed_row(), and kOutOfBudget
/// where the tails find no room.
FrozenRows freeze(Chains& chains, std::span<const RowId> rows, int64_t group);

} // namespace holdfast
