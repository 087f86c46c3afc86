// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which splits several rows of a call read together (the cascade read): those
// that lie below every token of the step, whose blocks are the same images in
// each row that sees them. Whole splits alone, because a partial covers one.
// Values; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/attend_visible.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::cpu {

/// The splits [begin, end) that hold visible blocks, and before them
/// [0, sinks).
struct VisibleSplits {
  int64_t sinks = 0;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const {
    return sinks + end - begin;
  }
  /// The i-th of them, in order.
  int64_t at(int64_t i) const {
    return i < sinks ? i : begin + i - sinks;
  }
};
VisibleSplits visible_splits(const VisibleBlocks& blocks);

/// Rows order[first, first + rows) see the same images in these splits: their
/// first visible ones, or those right after a run of these rows and others.
struct SharedRun {
  int64_t first = 0;
  int64_t rows = 0;
  VisibleBlocks blocks; // of the run's first row, which sees all that others do
  VisibleSplits splits;
};

struct SharedRuns {
  std::vector<int64_t> order; // the rows that may share
  std::vector<SharedRun> runs; // a row's in order of the splits
};

/// Query heads that read one key-value head, and what they see.
struct ShareSpec {
  int64_t query_heads = 1;
  Visibility visibility = {};
};

/// `blocks`: [row], or empty, where nothing is shared. A row with so many
/// queries that a unit holds fewer than two such shares nothing: it already
/// reads a block once for many of them.
SharedRuns find_shared(
    const ShareSpec& spec,
    std::span<const RowSpan> rows,
    std::span<const RowBlocks> blocks);

} // namespace holdfast::cpu
