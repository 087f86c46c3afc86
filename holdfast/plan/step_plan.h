// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One step, planned once for all layers: which tokens of the ragged input
// belong to which row, at which positions, and where their blocks lie.
// Immutable after it is built; any thread. The images it points to may be used
// while the step is open.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "holdfast/rows/bidirectional.h"

namespace holdfast {

/// A row's tokens within the step's [T, ...] arrays.
struct RowSpan {
  int64_t first_token = 0; // index into [0, T)
  int64_t count = 0; // tokens of this row, >= 1
  int64_t start = 0; // absolute position of its first token
  /// In order; whole ones, of these positions. Of a view: those of the row that
  /// meet these positions.
  std::vector<BidirectionalSpan> bidirectional = {};
  /// Of a view, whose queries lie anywhere and append nothing: they see at most
  /// [seen_from, seen_to), of positions written before.
  int64_t seen_from = 0;
  std::optional<int64_t> seen_to = {};

  /// The position behind the last that the query at `position`, one of these,
  /// may see: the next one, or the end of its bidirectional span.
  int64_t seen_end(int64_t position) const {
    const auto* span = span_cut_at(bidirectional, Position(position + 1));
    const int64_t end = span ? span->end.get() : position + 1;
    return std::min(end, seen_to.value_or(end));
  }
  /// What queries may see is written below this.
  int64_t written() const {
    return seen_to.value_or(start + count);
  }
};

/// The blocks of one row in one layer group: image of block b (positions
/// [b * kBlockTokens, ...)) at images[b]; null where the row released it.
/// Covers every position below start + count.
struct RowBlocks {
  std::vector<std::byte*> images;
  int64_t phase = 0; // in which the group stores the row
};

/// The rows of a step that a group stores in one phase, in order. Their tokens
/// keep their places in the step's arrays.
struct PhaseRows {
  int64_t phase = 0;
  std::vector<RowSpan> rows;
  std::vector<RowBlocks> blocks; // [row of these]
};

struct StepPlan {
  uint64_t generation = 0;
  int64_t tokens = 0; // T
  std::vector<RowSpan> rows;
  std::vector<std::vector<RowBlocks>> groups; // [group][row]
  /// [group], one a phase; empty where all rows are in the same.
  std::vector<std::vector<PhaseRows>> mixed;
  std::vector<int32_t> positions; // [T], for rope
};

} // namespace holdfast
