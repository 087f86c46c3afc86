// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_plan.h"

#include <algorithm>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {

namespace {

// Items a thread should find, so that the last to finish wait little.
constexpr int64_t kItemsPerThread = 4;

/// The largest unit that still gives each thread its items.
int64_t unit_rows(
    const AttentionSpec& spec,
    std::span<const RowSpan> rows,
    int threads) {
  const int64_t heads = spec.query_heads / spec.kv_heads;
  int64_t size = kUnitRows;
  for (; size > kGroupRows; size /= 2) {
    int64_t units = 0;
    for (const RowSpan& row : rows) {
      units += spec.kv_heads * ceil_div(row.count * heads, size);
    }
    if (units >= kItemsPerThread * threads) {
      break;
    }
  }
  return size;
}

AttendUnit
make_unit(const AttentionSpec& spec, const RowSpan& row, AttendUnit unit) {
  const int64_t heads = spec.query_heads / spec.kv_heads;
  unit.blocks = visible_blocks(
      spec.visibility,
      row.start + unit.first / heads,
      row.start + (unit.first + unit.rows - 1) / heads);
  unit.split_begin = unit.blocks.begin / kSplitBlocks;
  unit.split_end = ceil_div(unit.blocks.end, kSplitBlocks);
  unit.sink_splits = std::min(
      ceil_div(unit.blocks.sink_blocks, kSplitBlocks), unit.split_begin);
  return unit;
}

/// Visible blocks of the unit's i-th split.
int64_t split_blocks(const AttendUnit& unit, int64_t i) {
  const int64_t begin = unit.split(i) * kSplitBlocks;
  int64_t blocks = 0;
  for (int64_t b = begin; b < begin + kSplitBlocks; ++b) {
    blocks += unit.blocks.has(b) ? 1 : 0;
  }
  return blocks;
}

} // namespace

AttendPlan plan_attend(
    const AttentionSpec& spec,
    std::span<const RowSpan> rows,
    int threads) {
  const int64_t heads = spec.query_heads / spec.kv_heads;
  const int64_t size = unit_rows(spec, rows, threads);
  AttendPlan plan;
  const auto cost = [](const AttendUnit& unit) {
    return unit.blocks.count() * ceil_div(unit.rows, kGroupRows);
  };
  for (size_t r = 0; r < rows.size(); ++r) {
    const int64_t count = rows[r].count * heads;
    for (int64_t first = 0; first < count; first += size) {
      for (int64_t head = 0; head < spec.kv_heads; ++head) {
        plan.units.push_back(make_unit(
            spec,
            rows[r],
            {.row = static_cast<int64_t>(r),
             .kv_head = head,
             .first = first,
             .rows = std::min(size, count - first),
             .blocks = {}}));
        plan.cost += cost(plan.units.back());
      }
    }
  }
  for (size_t u = 0; u < plan.units.size(); ++u) {
    const AttendUnit& unit = plan.units[u];
    const auto index = static_cast<int64_t>(u);
    const bool split = threads > 1 && unit.splits() > 1 &&
        cost(unit) * threads * kItemsPerThread > plan.cost;
    if (!split) {
      plan.items.push_back({index, -1, unit.splits(), cost(unit)});
      continue;
    }
    const int64_t parts = std::min(
        unit.splits(),
        ceil_div(cost(unit) * threads * kItemsPerThread, plan.cost));
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t first = i * unit.splits() / parts;
      const int64_t end = (i + 1) * unit.splits() / parts;
      int64_t blocks = 0;
      for (int64_t s = first; s < end; ++s) {
        blocks += split_blocks(unit, s);
      }
      plan.items.push_back(
          {index,
           first,
           end - first,
           blocks * ceil_div(unit.rows, kGroupRows)});
    }
  }
  std::stable_sort(
      plan.items.begin(),
      plan.items.end(),
      [](const AttendItem& a, const AttendItem& b) { return a.cost > b.cost; });
  return plan;
}

} // namespace holdfast::cpu
