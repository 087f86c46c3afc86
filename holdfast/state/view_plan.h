// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which queries a view gets, and the plan by which a read answers them.
// Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "holdfast/plan/group.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/plan/viewed_row.h"

namespace holdfast {

/// Positions [begin, end).
struct PositionRange {
  Position begin;
  Position end;
};

/// Queries at consecutive positions of one row, which need not be committed. A
/// row may come several times.
struct ViewQueries {
  RowId row;
  int64_t count = 0; // >= 1
  Position start; // of the first
  /// They see none but these positions, at least one and all committed; without
  /// it, all that are committed.
  std::optional<PositionRange> seen = {};
};

/// The reader's layer in a state of so many groups.
struct ViewLayer {
  const Visibility& visibility;
  int64_t group = 0;
  int64_t groups = 0;
};

/// The counts of the queries together. Throws as LayerView::attend: positions,
/// and so queries, are 32-bit numbers.
int64_t count_queries(std::span<const ViewQueries> queries);

/// A plan whose rows are `queries`, in order. Throws as LayerView::attend.
StepPlan make_view_plan(
    const ViewLayer& layer,
    std::span<const ViewedRow> rows,
    std::span<const ViewQueries> queries);

} // namespace holdfast
