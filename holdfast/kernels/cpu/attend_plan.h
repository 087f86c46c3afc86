// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How one layer's attention is cut into units of work. The cut follows the load
// and the number of threads, and never a result's bits: blocks and splits lie
// at absolute positions, and are folded in order however they are shared out.
// Values; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/kernels/cpu/attend_visible.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::cpu {

/// Query rows [first, first + rows) of a row of the batch, for one key-value
/// head. Query row i is token i / heads, query head i % heads of the group.
struct AttendUnit {
  int64_t row = 0;
  int64_t kv_head = 0;
  int64_t first = 0;
  int64_t rows = 0;
  VisibleBlocks blocks;
  /// Splits that hold visible blocks: [0, sink_splits), then [begin, end).
  int64_t sink_splits = 0;
  int64_t split_begin = 0;
  int64_t split_end = 0;

  int64_t splits() const {
    return sink_splits + split_end - split_begin;
  }
  /// The i-th of them, in order.
  int64_t split(int64_t i) const {
    return i < sink_splits ? i : split_begin + i - sink_splits;
  }
};

/// Units of neighbouring heads, whole or some of their splits, which one thread
/// reads split by split: their planes lie side by side in an image.
struct AttendItem {
  int64_t unit = 0; // the first
  int64_t units = 1;
  int64_t first = -1; // of the unit's splits(); -1: all
  int64_t splits = 0;
  int64_t cost = 0; // blocks times groups of rows
};

constexpr int64_t kItemUnits = 8; // at most

struct AttendPlan {
  std::vector<AttendUnit> units;
  std::vector<AttendItem> items; // dearest first
  int64_t cost = 0;
};

struct AttendTeam {
  int threads = 1;
  int64_t head_bytes = 0; // of one head in one image
};

AttendPlan plan_attend(
    const AttentionSpec& spec,
    std::span<const RowSpan> rows,
    const AttendTeam& team);

} // namespace holdfast::cpu
