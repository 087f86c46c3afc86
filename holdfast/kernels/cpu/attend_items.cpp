// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_items.h"

#include <algorithm>
#include <limits>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_channel.h"

namespace holdfast::cpu {

namespace {

/// Buffers that outlive a call: a team's threads meet many.
AttendWorker& worker_of_this_thread() {
  thread_local AttendWorker worker;
  return worker;
}

} // namespace

AttendItems::AttendItems(
    const AttendContext& context,
    const AttendPlan& plan,
    int threads)
    : context_(context),
      plan_(plan),
      threads_(threads),
      kept_(plan.units.size()),
      left_(plan.units.size()) {
  int64_t most = 0;
  std::vector<int64_t> seen(plan.units.size(), -1); // the last round
  for (int64_t r = 0; r < std::ssize(plan.rounds); ++r) {
    const AttendRound& round = plan.rounds[r];
    int64_t floats = 0;
    for (int64_t i = round.begin; i < round.end; ++i) {
      const AttendItem& item = plan.items[i];
      if (item.first < 0 && !plan.shared(item.unit)) {
        continue;
      }
      for (int64_t u = item.unit; u < item.unit + item.units; ++u) {
        const int64_t size = floats_of(plan.units[u]);
        if (lasts(item)) {
          keep_splits(u);
          continue;
        }
        if (kept_[u].total < 0 &&
            (plan.shared(u) || (seen[u] >= 0 && seen[u] != r))) {
          kept_[u].total = lasting_;
          lasting_ += size;
        }
        seen[u] = r;
        floats += item.first < 0 ? 0 : item.splits * size;
      }
    }
    most = std::max(most, floats);
  }
  thread_local AlignedFloats buffer;
  const int64_t all = lasting_ + most;
  buffer_ = all > 0 ? buffer.at_least(all) : nullptr;
}

/// A partial for each split until the call ends.
void AttendItems::keep_splits(int64_t unit) {
  if (kept_[unit].offset >= 0) {
    return;
  }
  const AttendUnit& of = plan_.units[unit];
  kept_[unit] = {.count = of.splits.count(), .offset = lasting_};
  lasting_ += of.splits.count() * floats_of(of);
}

bool AttendItems::lasts(const AttendItem& item) const {
  return item.first >= 0 && plan_.shared(item.unit) && !plan_.folded;
}

void AttendItems::begin(const AttendRound& round) {
  const auto each = [&](const auto& call) {
    for (int64_t i = round.begin; i < round.end; ++i) {
      const AttendItem& item = plan_.items[i];
      for (int64_t u = item.unit; u < item.unit + item.units; ++u) {
        if (item.first >= 0 && !lasts(item)) {
          call(kept_[u], item, u);
        }
      }
    }
  };
  each([](Kept& kept, const AttendItem& item, int64_t) {
    kept.first = item.first;
    kept.count = 0;
    kept.offset = -1;
  });
  each([](Kept& kept, const AttendItem& item, int64_t) {
    kept.first = std::min(kept.first, item.first);
    kept.count += item.splits;
  });
  int64_t floats = lasting_;
  each([&](Kept& kept, const AttendItem&, int64_t u) {
    if (kept.offset < 0) {
      kept.offset = floats;
      floats += kept.count * floats_of(plan_.units[u]);
      left_[u].store(kept.count, std::memory_order_relaxed);
    }
  });
}

int64_t AttendItems::floats_of(const AttendUnit& unit) const {
  return partial_floats(unit.rows, context_.job->spec->value_dim);
}

std::span<const AttendQueries>
AttendItems::queries_of(const AttendUnit& unit) const {
  return {
      plan_.queries.data() + unit.queries, static_cast<size_t>(unit.members)};
}

/// Of a unit's i-th split, in parts.
Partial AttendItems::partial(int64_t unit, int64_t i) const {
  const AttendUnit& of = plan_.units[unit];
  const Kept& kept = kept_[unit];
  return partial_in(
      buffer_ + kept.offset + (i - kept.first) * floats_of(of), of.rows);
}

/// Of all its splits so far.
Partial AttendItems::total_of(int64_t unit) const {
  return partial_in(buffer_ + kept_[unit].total, plan_.units[unit].rows);
}

void AttendItems::run(int64_t index) {
  const AttendItem& item = plan_.items[index];
  item.first < 0 ? run_whole(item, index) : run_part(item, index);
}

void AttendItems::run_whole(const AttendItem& item, int64_t index) {
  AttendWorker& worker = worker_of_this_thread();
  const AttendUnit* units = &plan_.units[item.unit];
  const int64_t floats = floats_of(units[0]);
  float* buffer = worker.partials(2 * item.units * floats);
  Partial totals[kItemUnits], parts[kItemUnits];
  for (int64_t u = 0; u < item.units; ++u) {
    totals[u] = plan_.shared(item.unit)
        ? total_of(item.unit + u)
        : partial_in(buffer + 2 * u * floats, units[u].rows);
    parts[u] = partial_in(buffer + (2 * u + 1) * floats, units[u].rows);
    begin_total(units[u], totals[u]);
  }
  for (int64_t i = 0; i < item.splits; ++i) {
    const bool first = i == 0 && units[0].parent < 0;
    run_splits(item, index, i, first ? totals : parts);
    for (int64_t u = 0; u < item.units && !first; ++u) {
      fold(units[u], totals[u], parts[u]);
    }
  }
  for (int64_t u = 0; u < item.units; ++u) {
    finish(item.unit + u, totals[u]);
  }
}

void AttendItems::run_part(const AttendItem& item, int64_t index) {
  Partial results[kItemUnits];
  for (int64_t i = item.first; i < item.first + item.splits; ++i) {
    for (int64_t u = 0; u < item.units; ++u) {
      results[u] = partial(item.unit + u, i);
    }
    run_splits(item, index, i, results);
  }
  for (int64_t u = item.unit; u < item.unit + item.units && !lasts(item); ++u) {
    if (left_[u].fetch_sub(item.splits, std::memory_order_acq_rel) <=
        item.splits) {
      fold_round(u);
    }
  }
}

/// The splits that a unit has in the round, after those of the rounds before.
void AttendItems::fold_round(int64_t u) {
  const AttendUnit& unit = plan_.units[u];
  const Kept& kept = kept_[u];
  const bool first = unit.parent < 0;
  const bool begins = kept.first == 0;
  const bool lasting = kept.total >= 0;
  const Partial all = lasting ? total_of(u)
      : first
      ? partial(u, 0)
      : partial_in(
            worker_of_this_thread().partials(floats_of(unit)), unit.rows);
  if (begins) {
    begin_total(unit, all);
  }
  if (begins && first && lasting) {
    std::copy_n(buffer_ + kept.offset, floats_of(unit), buffer_ + kept.total);
  }
  const int64_t end = kept.first + kept.count;
  for (int64_t i = begins && first ? 1 : kept.first; i < end; ++i) {
    fold(unit, all, partial(u, i));
  }
  if (end == unit.splits.count()) {
    finish(u, all);
  }
}

/// The i-th split of each of the item's units.
void AttendItems::run_splits(
    const AttendItem& item,
    int64_t index,
    int64_t i,
    const Partial* results) {
  AttendWorker& worker = worker_of_this_thread();
  FetchList fetch = to_fetch(item, index, i);
  for (int64_t u = 0; u < item.units; ++u) {
    const AttendUnit& unit = plan_.units[item.unit + u];
    worker.run_split(
        context_, {&unit, queries_of(unit), u, i, &fetch}, results[u]);
  }
}

void AttendItems::fold(
    const AttendUnit& unit,
    const Partial& total,
    const Partial& part) {
  context_.kernels->fold(total, part, unit.rows, context_.job->spec->value_dim);
}

/// What the units before have of these query rows, where there are any.
void AttendItems::begin_total(const AttendUnit& unit, const Partial& total) {
  if (unit.parent >= 0) {
    std::fill_n(total.max, unit.rows, -std::numeric_limits<float>::infinity());
    std::fill_n(total.sum, unit.rows, 0.0f);
    fold_kept(unit.parent, unit.parent_row, unit.rows, total);
  }
}

/// Folds rows [row, row + rows) of a unit into a total, after those of the
/// units before it, unless it has these.
void AttendItems::fold_kept(
    int64_t unit,
    int64_t row,
    int64_t rows,
    const Partial& into) {
  const AttendUnit& of = plan_.units[unit];
  if (of.parent >= 0 && !plan_.folded) {
    fold_kept(of.parent, of.parent_row + row, rows, into);
  }
  const int64_t value_dim = context_.job->spec->value_dim;
  const auto add = [&](const Partial& part) {
    context_.kernels->fold(
        into, rows_from(part, row, value_dim), rows, value_dim);
  };
  if (kept_[unit].total >= 0) {
    add(total_of(unit));
    return;
  }
  for (int64_t i = 0; i < kept_[unit].count; ++i) {
    add(partial(unit, i));
  }
}

void AttendItems::finish(int64_t unit, const Partial& total) {
  if (!plan_.shared(unit)) {
    const AttendUnit& of = plan_.units[unit];
    AttendWorker::finish(context_, of, plan_.queries[of.queries], total);
  }
}

/// What comes after the i-th split of an item: its next split, or the first of
/// the item that this thread probably takes next. An item's first split fetches
/// itself as well, unless the item before did.
FetchList
AttendItems::to_fetch(const AttendItem& item, int64_t index, int64_t i) const {
  FetchList list;
  const AttendUnit& unit = plan_.units[item.unit];
  if (unit.rows > kGroupRows && !plan_.shared(item.unit)) {
    return list; // products outweigh the loads, and the processor fetches
  }
  const int64_t first = std::max<int64_t>(item.first, 0);
  if (i == first && index < threads_) {
    add_ranges(list, item, i);
  }
  const auto count = static_cast<int64_t>(plan_.items.size());
  if (i + 1 < first + item.splits) {
    add_ranges(list, item, i + 1);
  } else if (index + threads_ < count) {
    const AttendItem& next = plan_.items[index + threads_];
    add_ranges(list, next, std::max<int64_t>(next.first, 0));
  }
  int64_t lines = 0;
  for (int64_t r = 0; r < list.count; ++r) {
    lines += ceil_div(list.ranges[r].bytes, 64);
  }
  const AttentionSpec& spec = *context_.job->spec;
  const int64_t key_width = packed_key_width(context_.keys, spec.key_dim);
  const int64_t steps = item.units * kSplitBlocks *
      (fetch_steps(context_.keys, key_width) +
       fetch_steps(context_.values, spec.value_dim));
  list.a_step = 64 * ceil_div(lines, steps);
  return list;
}

void AttendItems::add_ranges(FetchList& list, const AttendItem& item, int64_t i)
    const {
  const AttendJob& job = *context_.job;
  const AttendUnit& unit = plan_.units[item.unit];
  const auto& images = job.blocks[queries_of(unit)[0].row].images;
  const int64_t offset = job.layout->offset(job.layer, unit.kv_head, 0).get();
  const int64_t begin = unit.splits.at(i) * kSplitBlocks;
  for (int64_t b = begin; b < begin + kSplitBlocks; ++b) {
    if (unit.blocks.has(b)) {
      list.ranges[list.count++] = {
          images[b] + offset,
          item.units * job.layout->head_stride(job.layer).get()};
    }
  }
}

} // namespace holdfast::cpu
