// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_unit.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "holdfast/base/bits.h"

namespace holdfast::cpu {

namespace {

constexpr std::align_val_t kLine{64};

} // namespace

float* AlignedFloats::at_least(int64_t count) {
  if (count > size_) {
    data_.reset(); // the old one first: what it holds is not needed
    size_ = 0;
    void* bytes =
        ::operator new(static_cast<size_t>(count) * sizeof(float), kLine);
    data_.reset(static_cast<float*>(bytes));
    std::memset(bytes, 0, static_cast<size_t>(count) * sizeof(float));
    size_ = count;
  }
  return data_.get();
}

void AlignedFloats::Free::operator()(float* floats) const {
  ::operator delete(floats, kLine);
}

int64_t partial_floats(int64_t rows, int64_t value_dim) {
  return round_up(rows, 16) * (value_dim + 2);
}

Partial partial_in(float* buffer, int64_t rows) {
  const int64_t padded = round_up(rows, 16);
  return {buffer + 2 * padded, buffer, buffer + padded};
}

void AttendWorker::prepare(
    const AttendContext& context,
    const AttendUnit& unit) {
  const AttendJob& job = *context.job;
  const AttentionSpec& spec = *job.spec;
  const int64_t width = dense_key_width(context.keys, spec.key_dim);
  const int64_t padded = round_up(unit.rows, 16);
  // Two bytes an element for bf16 queries, whose width is even.
  const bool narrow = context.keys == DenseFormat::kBf16;
  const int64_t stride = narrow ? width / 2 : width; // in floats
  float* queries = queries_.at_least(padded * stride);
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t token =
        job.rows[unit.row].first_token + (unit.first + r) / context.heads;
    const int64_t head =
        unit.kv_head * context.heads + (unit.first + r) % context.heads;
    context.kernels->pack_query[static_cast<int>(context.keys)](
        job.q + (token * spec.query_heads + head) * spec.key_dim,
        spec.key_dim,
        queries + r * stride);
  }
  std::fill_n(
      queries + unit.rows * stride, (padded - unit.rows) * stride, 0.0f);
  constexpr int64_t kScores = kSplitBlocks * kGroupRows * kBlockTokens;
  constexpr int64_t kWeights = kScores / 2; // of two bytes
  constexpr int64_t kLargest = kGroupRows * 16;
  float* scratch =
      scratch_.at_least(kScores + kWeights + kLargest + spec.value_dim * 16);
  split_ = {
      .rows = unit.rows,
      .key_width = width,
      .value_dim = spec.value_dim,
      .q = queries,
      .scale = spec.scale,
      .softcap = spec.softcap,
      .blocks = views_,
      .scratch =
          {.scores = scratch,
           .weights = reinterpret_cast<uint16_t*>(scratch + kScores),
           .largest = scratch + kScores + kWeights,
           .values = reinterpret_cast<uint16_t*>(
               scratch + kScores + kWeights + kLargest)},
      .result = {}};
}

/// Fills views_ with the split's visible blocks, and the one that follows them
/// where there is one; returns how many belong to the split.
int64_t AttendWorker::view_blocks(
    const AttendContext& context,
    const AttendUnit& unit,
    int64_t split) {
  const AttendJob& job = *context.job;
  const RowSpan& row = job.rows[unit.row];
  const RowBlocks& blocks = job.blocks[unit.row];
  const int64_t keys = job.layout->offset(job.layer, unit.kv_head, 0).get();
  const int64_t values = job.layout->offset(job.layer, unit.kv_head, 1).get();
  const int64_t padded = round_up(unit.rows, 16);
  const int64_t end = std::min((split + 1) * kSplitBlocks, unit.blocks.end);
  int64_t count = 0;
  for (int64_t b = split * kSplitBlocks; b < end; ++b) {
    if (!unit.blocks.has(b)) {
      continue;
    }
    uint64_t* visible = visible_[count];
    for (int64_t r = 0; r < unit.rows;) {
      // A token's heads see the same.
      const int64_t token = (unit.first + r) / context.heads;
      const int64_t next =
          std::min(unit.rows, (token + 1) * context.heads - unit.first);
      std::fill(
          visible + r,
          visible + next,
          visible_keys(job.spec->visibility, row.start + token, b));
      r = next;
    }
    std::fill(visible + unit.rows, visible + padded, 0);
    views_[count++] = {
        .keys = blocks.images[b] + keys,
        .values = blocks.images[b] + values,
        .visible = visible,
        .written =
            std::min(kBlockTokens, row.start + row.count - b * kBlockTokens)};
  }
  split_.next = nullptr;
  if (end < unit.blocks.end && unit.blocks.has(end)) {
    views_[count] = {
        .keys = blocks.images[end] + keys,
        .values = blocks.images[end] + values};
    split_.next = &views_[count];
  }
  return count;
}

void AttendWorker::split_into(
    const AttendContext& context,
    const AttendUnit& unit,
    int64_t i,
    const Partial& result) {
  split_.block_count = view_blocks(context, unit, unit.split(i));
  split_.result = result;
  context.kernels->split[static_cast<int>(context.keys)]
                        [static_cast<int>(context.values)](split_);
}

void AttendWorker::run_split(
    const AttendContext& context,
    const AttendUnit& unit,
    int64_t i,
    const Partial& result) {
  prepare(context, unit);
  split_into(context, unit, i, result);
}

void AttendWorker::run_whole(
    const AttendContext& context,
    const AttendUnit& unit) {
  const int64_t value_dim = context.job->spec->value_dim;
  const int64_t floats = partial_floats(unit.rows, value_dim);
  const Partial total = partial_in(total_.at_least(floats), unit.rows);
  prepare(context, unit);
  split_into(context, unit, 0, total);
  for (int64_t i = 1; i < unit.splits(); ++i) {
    const Partial part = partial_in(part_.at_least(floats), unit.rows);
    split_into(context, unit, i, part);
    context.kernels->fold(total, part, unit.rows, value_dim);
  }
  finish(context, unit, total);
}

void AttendWorker::finish(
    const AttendContext& context,
    const AttendUnit& unit,
    const Partial& total) {
  const AttendJob& job = *context.job;
  const AttentionSpec& spec = *job.spec;
  for (int64_t r = 0; r < unit.rows; ++r) {
    const int64_t token =
        job.rows[unit.row].first_token + (unit.first + r) / context.heads;
    const int64_t head =
        unit.kv_head * context.heads + (unit.first + r) % context.heads;
    context.kernels->finish(
        total,
        r,
        spec.value_dim,
        spec.sink_logits.empty() ? nullptr : &spec.sink_logits[head],
        job.out + (token * spec.query_heads + head) * spec.value_dim);
  }
}

} // namespace holdfast::cpu
