// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_plan.h"

#include <algorithm>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {

namespace {

// Items a thread should find, so that the last to finish wait little.
constexpr int64_t kItemsPerThread = 4;
// Memory answers longer runs faster: heads go together up to about this.
constexpr int64_t kRunBytes = 64 << 10;

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
      row,
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

int64_t cost_of(const AttendUnit& unit) {
  return unit.blocks.count() * ceil_div(unit.rows, kGroupRows);
}

std::vector<AttendUnit> make_units(
    const AttentionSpec& spec,
    std::span<const RowSpan> rows,
    int64_t size) {
  const int64_t heads = spec.query_heads / spec.kv_heads;
  std::vector<AttendUnit> units;
  for (size_t r = 0; r < rows.size(); ++r) {
    const int64_t count = rows[r].count * heads;
    for (int64_t first = 0; first < count; first += size) {
      for (int64_t head = 0; head < spec.kv_heads; ++head) {
        units.push_back(make_unit(
            spec,
            rows[r],
            {.row = static_cast<int64_t>(r),
             .kv_head = head,
             .first = first,
             .rows = std::min(size, count - first),
             .blocks = {}}));
      }
    }
  }
  return units;
}

/// Adds the items of `units` neighbouring heads from plan.units[index] on.
void add_items(AttendPlan& plan, int64_t index, int64_t units, int threads) {
  const AttendUnit& unit = plan.units[index];
  const int64_t cost = units * cost_of(unit);
  const int64_t shares = cost * threads * kItemsPerThread;
  if (threads == 1 || unit.splits() == 1 || shares <= plan.cost) {
    plan.items.push_back({index, units, -1, unit.splits(), cost});
    return;
  }
  const int64_t parts = std::min(unit.splits(), ceil_div(shares, plan.cost));
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t first = i * unit.splits() / parts;
    const int64_t end = (i + 1) * unit.splits() / parts;
    int64_t blocks = 0;
    for (int64_t s = first; s < end; ++s) {
      blocks += split_blocks(unit, s);
    }
    plan.items.push_back(
        {index,
         units,
         first,
         end - first,
         units * blocks * ceil_div(unit.rows, kGroupRows)});
  }
}

} // namespace

AttendPlan plan_attend(
    const AttentionSpec& spec,
    std::span<const RowSpan> rows,
    const AttendTeam& team) {
  AttendPlan plan;
  plan.units = make_units(spec, rows, unit_rows(spec, rows, team.threads));
  for (const AttendUnit& unit : plan.units) {
    plan.cost += cost_of(unit);
  }
  const int64_t most = std::clamp<int64_t>(
      kRunBytes / std::max<int64_t>(1, team.head_bytes), 1, kItemUnits);
  const auto count = static_cast<int64_t>(plan.units.size());
  for (int64_t u = 0; u < count;) {
    const AttendUnit& unit = plan.units[u];
    const int64_t units = unit.rows <= kGroupRows
        ? std::min(spec.kv_heads - unit.kv_head, most)
        : 1;
    add_items(plan, u, units, team.threads);
    u += units;
  }
  std::stable_sort(
      plan.items.begin(),
      plan.items.end(),
      [](const AttendItem& a, const AttendItem& b) { return a.cost > b.cost; });
  return plan;
}

} // namespace holdfast::cpu
