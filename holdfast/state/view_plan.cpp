// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/view_plan.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/attend_visible.h"
#include "holdfast/plan/planner.h"

namespace holdfast {

namespace {

void refuse(
    const std::string& expected,
    const std::string& got,
    ErrorCode code = ErrorCode::kInvalidArgument) {
  throw Error(
      code, "[LayerView::attend] expected " + expected + ", got " + got);
}

std::string text_of(int64_t begin, int64_t end) {
  std::ostringstream text;
  text << "[" << begin << ", " << end << ")";
  return text.str();
}

const ViewedRow& row_of(std::span<const ViewedRow> rows, RowId row) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const auto& of) { return of.row == row; });
  if (found == rows.end()) {
    refuse("rows of the view", "row " + text(row), ErrorCode::kNotFound);
  }
  return *found;
}

/// What the queries may see of their row.
PositionRange range_of(const ViewedRow& row, const ViewQueries& queries) {
  const PositionRange range =
      queries.seen.value_or(PositionRange{Position(0), row.length});
  if (range.begin < Position(0) || range.begin >= range.end ||
      range.end > row.length) {
    refuse(
        "queries that see some of the " + std::to_string(row.length.get()) +
            " committed positions of row " + text(row.row),
        text_of(range.begin.get(), range.end.get()));
  }
  return range;
}

RowSpan
span_of(const ViewedRow& row, const ViewQueries& queries, int64_t first_token) {
  if (queries.start < Position(0) ||
      queries.start > kMaxPositions - Position(queries.count)) {
    refuse(
        "queries of row " + text(row.row) + " at positions from 0 on",
        std::to_string(queries.count) + " from " +
            std::to_string(queries.start.get()));
  }
  const PositionRange range = range_of(row, queries);
  const int64_t start = queries.start.get();
  RowSpan span{
      .first_token = first_token,
      .count = queries.count,
      .start = start,
      .seen_from = range.begin.get(),
      .seen_to = range.end.get()};
  for (const BidirectionalSpan& of : row.spans) {
    if (of.begin.get() < start + queries.count && of.end.get() > start) {
      span.bidirectional.push_back(of);
    }
  }
  return span;
}

void require_seen(
    const Visibility& sees,
    const ViewedRow& row,
    const RowSpan& span) {
  const int64_t end = span.start + span.count;
  for (int64_t p = span.start; p < end; ++p) {
    if (!cpu::sees_any(sees, span, p)) {
      refuse(
          "queries that see a key each",
          "none for the one at position " + std::to_string(p) + " of row " +
              text(row.row) + " in " + text_of(span.seen_from, *span.seen_to));
    }
  }
  const cpu::VisibleBlocks blocks =
      cpu::visible_blocks(sees, span, span.start, end - 1);
  for (int64_t b = 0; b < blocks.end; ++b) {
    if (blocks.has(b) && row.blocks.images[static_cast<size_t>(b)] == nullptr) {
      refuse(
          "queries that see positions which the row holds",
          "block " + std::to_string(b) + " of row " + text(row.row) +
              ", which its window has released",
          ErrorCode::kUnsupported);
    }
  }
}

} // namespace

int64_t count_queries(std::span<const ViewQueries> queries) {
  if (queries.empty()) {
    refuse("queries", "none");
  }
  int64_t count = 0;
  for (const ViewQueries& of : queries) {
    if (of.count < 1 || of.count > kMaxPositions.get() - count) {
      refuse(
          "1 query or more of each row, " +
              std::to_string(kMaxPositions.get()) + " at most",
          std::to_string(of.count) + " of row " + text(of.row) + " after " +
              std::to_string(count));
    }
    count += of.count;
  }
  return count;
}

StepPlan make_view_plan(
    const ViewLayer& layer,
    std::span<const ViewedRow> rows,
    std::span<const ViewQueries> queries) {
  count_queries(queries); // throws
  StepPlan plan;
  plan.groups.resize(static_cast<size_t>(layer.groups));
  plan.mixed.resize(static_cast<size_t>(layer.groups));
  auto& blocks = plan.groups[static_cast<size_t>(layer.group)];
  for (const ViewQueries& of : queries) {
    const ViewedRow& row = row_of(rows, of.row);
    RowSpan span = span_of(row, of, plan.tokens);
    require_seen(layer.visibility, row, span);
    plan.tokens += of.count;
    plan.rows.push_back(std::move(span));
    blocks.push_back(row.blocks);
  }
  plan.mixed[static_cast<size_t>(layer.group)] = by_phase(plan.rows, blocks);
  return plan;
}

} // namespace holdfast
