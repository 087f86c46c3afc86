// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_plan.h"

#include <algorithm>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_channel.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/attend_unit.h"

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

/// Adds items to a plan, round by round.
class Rounds {
 public:
  Rounds(const AttendCut& cut, AttendPlan& plan) : cut_(cut), plan_(plan) {}

  /// The items of units [first, end).
  void add(int64_t first, int64_t end) {
    open();
    cost_ = 0;
    for (int64_t u = first; u < end; ++u) {
      cost_ += cost_of(plan_.units[u]);
    }
    const int64_t most = std::clamp<int64_t>(
        kRunBytes / std::max<int64_t>(1, cut_.head_bytes), 1, kItemUnits);
    for (int64_t u = first; u < end;) {
      const AttendUnit& unit = plan_.units[u];
      int64_t units = 1;
      while (units < most && unit.rows <= kGroupRows && u + units < end &&
             plan_.units[u + units].kv_head > unit.kv_head) {
        ++units;
      }
      add_units(
          {.unit = u,
           .units = units,
           .splits = unit.splits.count(),
           .cost = units * cost_of(unit)});
      u += units;
    }
    close();
  }
  /// Floats of the partials of all that was shared out.
  int64_t kept() const {
    return all_kept_;
  }

 private:
  /// An item of neighbouring heads, or its parts.
  void add_units(const AttendItem& whole) {
    const AttendUnit& unit = plan_.units[whole.unit];
    const bool shared = plan_.shared(whole.unit);
    if (plan_.folded && shared && any() &&
        plan_.items[begin_].unit < unit.parent + whole.units) {
      close(); // splits of its parents are still to be folded
      open();
    }
    const int64_t shares = whole.cost * cut_.threads * kItemsPerThread;
    // A fold of what comes before must not wait for a fold of these splits.
    const bool apart = !plan_.folded && shared && unit.parent >= 0;
    const bool small =
        cut_.threads == 1 || whole.splits == 1 || shares <= cost_;
    if (small && !apart) {
      plan_.items.push_back(whole);
      return;
    }
    int64_t parts = small ? 1 : ceil_div(shares, cost_);
    const int64_t floats =
        whole.units * partial_floats(unit.rows, cut_.value_dim);
    if (plan_.folded) { // a round has parts enough for all threads
      parts = std::max(
          parts,
          ceil_div(
              floats * whole.splits * cut_.threads * kItemsPerThread,
              cut_.kept_floats));
    }
    parts = std::min(whole.splits, parts);
    for (int64_t i = 0; i < parts; ++i) {
      AttendItem part = whole;
      part.first = i * whole.splits / parts;
      part.splits = (i + 1) * whole.splits / parts - part.first;
      add_part(part, floats * part.splits);
    }
  }

  void add_part(AttendItem& part, int64_t floats) {
    const AttendUnit& unit = plan_.units[part.unit];
    int64_t blocks = 0;
    for (int64_t s = part.first; s < part.first + part.splits; ++s) {
      blocks += split_blocks(unit, s);
    }
    part.cost = part.units * blocks * ceil_div(unit.rows, kGroupRows);
    if (plan_.folded && any() && kept_ + floats > cut_.kept_floats) {
      close();
      open();
    }
    kept_ += floats;
    all_kept_ += floats;
    plan_.items.push_back(part);
  }

  bool any() const {
    return begin_ < std::ssize(plan_.items);
  }

  void open() {
    begin_ = static_cast<int64_t>(plan_.items.size());
    kept_ = 0;
  }

  void close() {
    const auto begin = plan_.items.begin() + begin_;
    AttendRound round{.begin = begin_, .end = std::ssize(plan_.items)};
    for (auto item = begin; item != plan_.items.end(); ++item) {
      round.cost += item->cost;
    }
    std::stable_sort(
        begin, plan_.items.end(), [](const AttendItem& a, const AttendItem& b) {
          return a.cost > b.cost;
        });
    plan_.rounds.push_back(round);
  }

  const AttendCut& cut_;
  AttendPlan& plan_;
  int64_t cost_ = 0; // of what is added
  int64_t begin_ = 0; // of the open round
  int64_t kept_ = 0; // floats of its partials
  int64_t all_kept_ = 0; // and of all rounds'
};

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
      .threads = threads,
      .value_dim = spec.value_dim};
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
  const auto add_rounds = [&] {
    Rounds rounds(cut, plan);
    rounds.add(0, plan.shared_units);
    rounds.add(plan.shared_units, std::ssize(plan.units));
    return rounds.kept();
  };
  if (add_rounds() > cut.kept_floats) {
    plan.items.clear();
    plan.rounds.clear();
    plan.folded = true;
    add_rounds();
  }
  return plan;
}

} // namespace holdfast::cpu
