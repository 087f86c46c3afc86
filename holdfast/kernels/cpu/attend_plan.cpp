// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_plan.h"

#include <algorithm>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_channel.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {

namespace {

// Items a thread should find, so that the last to finish wait little.
constexpr int64_t kItemsPerThread = 4;
// Memory answers longer runs faster: heads go together up to about this.
constexpr int64_t kRunBytes = 64 << 10;

/// The largest unit that still gives each thread its items.
int64_t unit_rows(const AttendCut& cut, std::span<const RowSpan> rows) {
  const int64_t heads = cut.query_heads / cut.kv_heads;
  int64_t size = kUnitRows;
  for (; size > kGroupRows; size /= 2) {
    int64_t units = 0;
    for (const RowSpan& row : rows) {
      units += cut.kv_heads * ceil_div(row.count * heads, size);
    }
    if (units >= kItemsPerThread * cut.threads) {
      break;
    }
  }
  return size;
}

/// Visible blocks of a unit's i-th split.
int64_t split_blocks(const AttendUnit& unit, int64_t i) {
  const int64_t begin = unit.splits.at(i) * kSplitBlocks;
  int64_t blocks = 0;
  for (int64_t b = begin; b < begin + kSplitBlocks; ++b) {
    blocks += unit.blocks.has(b) ? 1 : 0;
  }
  return blocks;
}

int64_t cost_of(const AttendUnit& unit) {
  return unit.blocks.count() * ceil_div(unit.rows, kGroupRows);
}

/// Where a row's own splits come after shared ones.
struct SharedPart {
  int64_t unit = -1; // of the first head; those of the others follow
  int64_t row = 0; // the first of its query rows in that unit
  int64_t end = 0; // splits below are read there
};

class Units {
 public:
  Units(const AttendCut& cut, std::span<const RowSpan> rows, AttendPlan& plan)
      : cut_(cut),
        heads_(cut.query_heads / cut.kv_heads),
        rows_(rows),
        parts_(rows.size()),
        plan_(plan) {}

  void add_shared(const SharedRuns& shared) {
    for (const int64_t row : shared.order) {
      plan_.queries.push_back({row, 0, rows_[row].count * heads_});
    }
    for (const SharedRun& run : shared.runs) {
      const std::span<const AttendQueries> members(
          plan_.queries.data() + run.first, run.rows);
      const SharedPart parent = parts_[members[0].row];
      AttendUnit unit{
          .queries = run.first,
          .members = run.rows,
          .blocks = run.blocks,
          .splits = run.splits};
      for (const AttendQueries& member : members) {
        parts_[member.row] = {
            static_cast<int64_t>(plan_.units.size()),
            unit.rows,
            run.splits.end};
        unit.rows += member.rows;
      }
      add_heads(unit, parent);
    }
    plan_.shared_units = static_cast<int64_t>(plan_.units.size());
  }

  void add_own(int64_t size) {
    for (size_t r = 0; r < rows_.size(); ++r) {
      const int64_t count = rows_[r].count * heads_;
      for (int64_t first = 0; first < count; first += size) {
        add_own_rows(
            {static_cast<int64_t>(r), first, std::min(size, count - first)});
      }
    }
  }

 private:
  void add_own_rows(const AttendQueries& queries) {
    const RowSpan& row = rows_[queries.row];
    SharedPart part = parts_[queries.row];
    part.row += queries.first;
    AttendUnit unit{
        .queries = static_cast<int64_t>(plan_.queries.size()),
        .rows = queries.rows,
        .blocks = visible_blocks(
            cut_.visibility,
            row,
            row.start + queries.first / heads_,
            row.start + (queries.first + queries.rows - 1) / heads_),
        .splits = {}};
    if (part.unit >= 0) {
      unit.blocks.sink_blocks = 0;
      unit.blocks.begin = std::max(unit.blocks.begin, part.end * kSplitBlocks);
    }
    unit.splits = visible_splits(unit.blocks);
    plan_.queries.push_back(queries);
    add_heads(unit, part);
  }

  void add_heads(AttendUnit unit, const SharedPart& parent) {
    unit.parent_row = parent.row;
    for (; unit.kv_head < cut_.kv_heads; ++unit.kv_head) {
      unit.parent = parent.unit < 0 ? -1 : parent.unit + unit.kv_head;
      plan_.units.push_back(unit);
    }
  }

  const AttendCut& cut_;
  const int64_t heads_;
  std::span<const RowSpan> rows_;
  std::vector<SharedPart> parts_; // [row]
  AttendPlan& plan_;
};

/// Adds the items of `units` neighbouring heads from plan.units[index] on.
void add_items(
    AttendPlan& plan,
    const AttendRound& round,
    const AttendItem& whole,
    int threads) {
  const AttendUnit& unit = plan.units[whole.unit];
  const int64_t shares = whole.cost * threads * kItemsPerThread;
  // A fold of what comes before must not wait for a fold of these splits.
  const bool apart = plan.shared(whole.unit) && unit.parent >= 0;
  const bool small = threads == 1 || whole.splits == 1 || shares <= round.cost;
  if (small && !apart) {
    plan.items.push_back(whole);
    return;
  }
  const int64_t parts =
      small ? 1 : std::min(whole.splits, ceil_div(shares, round.cost));
  for (int64_t i = 0; i < parts; ++i) {
    AttendItem part = whole;
    part.first = i * whole.splits / parts;
    part.splits = (i + 1) * whole.splits / parts - part.first;
    int64_t blocks = 0;
    for (int64_t s = part.first; s < part.first + part.splits; ++s) {
      blocks += split_blocks(unit, s);
    }
    part.cost = part.units * blocks * ceil_div(unit.rows, kGroupRows);
    plan.items.push_back(part);
  }
}

/// The items of units [first, end).
AttendRound
add_round(AttendPlan& plan, int64_t first, int64_t end, const AttendCut& cut) {
  AttendRound round{.begin = static_cast<int64_t>(plan.items.size())};
  for (int64_t u = first; u < end; ++u) {
    round.cost += cost_of(plan.units[u]);
  }
  const int64_t most = std::clamp<int64_t>(
      kRunBytes / std::max<int64_t>(1, cut.head_bytes), 1, kItemUnits);
  for (int64_t u = first; u < end;) {
    const AttendUnit& unit = plan.units[u];
    int64_t units = 1;
    while (units < most && unit.rows <= kGroupRows && u + units < end &&
           plan.units[u + units].kv_head > unit.kv_head) {
      ++units;
    }
    add_items(
        plan,
        round,
        {.unit = u,
         .units = units,
         .splits = unit.splits.count(),
         .cost = units * cost_of(unit)},
        cut.threads);
    u += units;
  }
  std::stable_sort(
      plan.items.begin() + round.begin,
      plan.items.end(),
      [](const AttendItem& a, const AttendItem& b) { return a.cost > b.cost; });
  round.end = static_cast<int64_t>(plan.items.size());
  return round;
}

} // namespace

AttendCut attend_cut(const AttendJob& job, int threads) {
  const AttentionSpec& spec = *job.spec;
  return {
      .query_heads = spec.query_heads,
      .kv_heads = spec.kv_heads,
      .visibility = spec.visibility,
      .head_bytes =
          view_channel(*job.keys, ChannelRole::kKeys, spec.key_dim).bytes +
          view_channel(*job.values, ChannelRole::kValues, spec.value_dim).bytes,
      .threads = threads};
}

AttendPlan plan_attend(const AttendJob& job, const AttendCut& cut) {
  AttendPlan plan;
  Units units(cut, job.rows, plan);
  units.add_shared(find_shared(
      {.query_heads = cut.query_heads / cut.kv_heads,
       .visibility = cut.visibility},
      job.rows,
      job.blocks));
  units.add_own(unit_rows(cut, job.rows));
  const auto end = static_cast<int64_t>(plan.units.size());
  plan.rounds[0] = add_round(plan, 0, plan.shared_units, cut);
  plan.rounds[1] = add_round(plan, plan.shared_units, end, cut);
  return plan;
}

} // namespace holdfast::cpu
