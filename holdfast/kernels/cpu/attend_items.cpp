// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_items.h"

#include <algorithm>

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
      offsets_(plan.units.size(), -1),
      left_(plan.units.size()) {
  int64_t floats = 0;
  for (const AttendItem& item : plan.items) {
    for (int64_t u = item.unit; u < item.unit + item.units; ++u) {
      if (item.first >= 0 && offsets_[u] < 0) {
        const AttendUnit& unit = plan.units[u];
        offsets_[u] = floats;
        left_[u].store(unit.splits(), std::memory_order_relaxed);
        floats += unit.splits() * floats_of(unit);
      }
    }
  }
  thread_local AlignedFloats buffer;
  buffer_ = floats > 0 ? buffer.at_least(floats) : nullptr;
}

int64_t AttendItems::floats_of(const AttendUnit& unit) const {
  return partial_floats(unit.rows, context_.job->spec->value_dim);
}

Partial AttendItems::partial(int64_t unit, int64_t split) const {
  const AttendUnit& of = plan_.units[unit];
  return partial_in(buffer_ + offsets_[unit] + split * floats_of(of), of.rows);
}

void AttendItems::run(int64_t index) {
  const AttendItem& item = plan_.items[index];
  item.first < 0 ? run_whole(item, index) : run_part(item, index);
}

void AttendItems::run_whole(const AttendItem& item, int64_t index) {
  AttendWorker& worker = worker_of_this_thread();
  const int64_t value_dim = context_.job->spec->value_dim;
  const int64_t rows = plan_.units[item.unit].rows;
  const int64_t floats = floats_of(plan_.units[item.unit]);
  float* buffer = worker.partials(2 * item.units * floats);
  Partial totals[kItemUnits], parts[kItemUnits];
  for (int64_t u = 0; u < item.units; ++u) {
    totals[u] = partial_in(buffer + 2 * u * floats, rows);
    parts[u] = partial_in(buffer + (2 * u + 1) * floats, rows);
  }
  run_splits(item, index, 0, totals);
  for (int64_t i = 1; i < item.splits; ++i) {
    run_splits(item, index, i, parts);
    for (int64_t u = 0; u < item.units; ++u) {
      context_.kernels->fold(totals[u], parts[u], rows, value_dim);
    }
  }
  for (int64_t u = 0; u < item.units; ++u) {
    AttendWorker::finish(context_, plan_.units[item.unit + u], totals[u]);
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
  for (int64_t u = item.unit; u < item.unit + item.units; ++u) {
    if (left_[u].fetch_sub(item.splits, std::memory_order_acq_rel) >
        item.splits) {
      continue;
    }
    const AttendUnit& unit = plan_.units[u];
    const Partial total = partial(u, 0);
    for (int64_t i = 1; i < unit.splits(); ++i) {
      context_.kernels->fold(
          total, partial(u, i), unit.rows, context_.job->spec->value_dim);
    }
    AttendWorker::finish(context_, unit, total);
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
    worker.run_split(
        context_, {&plan_.units[item.unit + u], u, i, &fetch}, results[u]);
  }
}

/// What comes after the i-th split of an item: its next split, or the first of
/// the item that this thread probably takes next. An item's first split fetches
/// itself as well, unless the item before did.
FetchList
AttendItems::to_fetch(const AttendItem& item, int64_t index, int64_t i) const {
  FetchList list;
  const AttendUnit& unit = plan_.units[item.unit];
  if (unit.rows > kGroupRows) {
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
  const int64_t steps = item.units *
      split_steps(kSplitBlocks,
                  packed_key_width(context_.keys, spec.key_dim),
                  spec.value_dim);
  list.a_step = 64 * ceil_div(lines, steps);
  return list;
}

void AttendItems::add_ranges(FetchList& list, const AttendItem& item, int64_t i)
    const {
  const AttendJob& job = *context_.job;
  const AttendUnit& unit = plan_.units[item.unit];
  const int64_t offset = job.layout->offset(job.layer, unit.kv_head, 0).get();
  const int64_t begin = unit.split(i) * kSplitBlocks;
  for (int64_t b = begin; b < begin + kSplitBlocks; ++b) {
    if (unit.blocks.has(b)) {
      list.ranges[list.count++] = {
          job.blocks[unit.row].images[b] + offset,
          item.units * job.layout->head_stride(job.layer).get()};
    }
  }
}

} // namespace holdfast::cpu
