// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_unit.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "holdfast/base/bits.h"
#include "holdfast/codec/rotation.h"
#include "holdfast/kernels/cpu/attend_channel.h"

namespace holdfast::cpu {

namespace {

constexpr std::align_val_t kLine{64};

/// Of a member's r-th query row, in [T, query_heads].
int64_t query_index(
    const AttendContext& context,
    const AttendUnit& unit,
    const AttendQueries& member,
    int64_t r) {
  const AttendJob& job = *context.job;
  const int64_t i = member.first + r;
  const int64_t token = job.rows[member.row].first_token + i / context.heads;
  return token * job.spec->query_heads + unit.kv_head * context.heads +
      i % context.heads;
}

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

Partial rows_from(const Partial& partial, int64_t row, int64_t value_dim) {
  return {partial.out + row * value_dim, partial.max + row, partial.sum + row};
}

SplitJob&
AttendWorker::prepare(const AttendContext& context, const SplitRead& read) {
  Slot& slot = slots_[read.slot];
  if (slot.call == context.call && slot.unit == read.unit) {
    return slot.job;
  }
  const AttentionSpec& spec = *context.job->spec;
  slot.job = {
      .rows = read.unit->rows,
      .key_width = packed_key_width(context.keys, spec.key_dim),
      .value_dim = spec.value_dim,
      .keys = &context.keys,
      .values = &context.values,
      .scale = spec.scale,
      .softcap = spec.softcap,
      .blocks = views_,
      .scratch = {},
      .result = {}};
  pack_queries(context, read, slot);
  slot.call = context.call;
  slot.unit = read.unit;
  return slot.job;
}

void AttendWorker::pack_queries(
    const AttendContext& context,
    const SplitRead& read,
    Slot& slot) {
  const AttendJob& job = *context.job;
  const AttentionSpec& spec = *job.spec;
  const int64_t padded = round_up(read.unit->rows, 16);
  const int64_t groups = key_groups(context.keys, spec.key_dim);
  // Two bytes an element for bf16 queries, whose width is even.
  const bool narrow = context.keys.form >= PlaneForm::kBf16;
  const int64_t stride = narrow ? slot.job.key_width / 2 : slot.job.key_width;
  float* const queries = slot.queries.at_least(padded * (stride + groups));
  float* const sums = queries + padded * stride;
  float* rotated = rotated_.at_least(spec.key_dim);
  int64_t to = 0;
  const auto pack = [&](const float* q) {
    if (stored_rotated(*job.keys)) {
      std::copy_n(q, spec.key_dim, rotated);
      rotate({rotated, static_cast<size_t>(spec.key_dim)});
      q = rotated;
    }
    if (groups > 0) {
      context.kernels->pack_coded_query(
          q,
          spec.key_dim,
          context.keys.codes,
          queries + to * stride,
          sums + to * groups);
    } else {
      context.kernels->pack_query[static_cast<int>(context.keys.form)](
          q, spec.key_dim, queries + to * stride);
    }
    ++to;
  };
  for (const AttendQueries& member : read.queries) {
    for (int64_t r = 0; r < member.rows; ++r) {
      pack(job.q + query_index(context, *read.unit, member, r) * spec.key_dim);
    }
  }
  std::fill_n(queries + to * stride, (padded - to) * stride, 0.0f);
  slot.job.q = queries;
  slot.job.q_sums = sums;
}

AttendScratch AttendWorker::lay_out_scratch(
    const AttendContext& context,
    const SplitJob& job) {
  constexpr int64_t kScores = kGroupRows * kScoreRow;
  constexpr int64_t kTile = 256; // floats of a tile
  const bool coded_keys = context.keys.form == PlaneForm::kCodes;
  const bool coded_values = context.values.form == PlaneForm::kCodes;
  const bool expands = job.rows > 16;
  const int64_t key_tiles =
      coded_keys && expands ? kSplitBlocks * job.key_width / 8 : 0;
  const int64_t value_tiles =
      coded_values && expands ? kSplitBlocks * job.value_dim / 8 : 0;
  const int64_t sizes[] = {
      kScores,
      kSplitSteps * kGroupRows * kStepTokens / 2, // of two bytes
      kGroupRows * 16,
      job.value_dim * 16,
      coded_keys || coded_values ? 8 * kTile : 0,
      coded_keys ? 4 * 16 * kBlockTokens : 0,
      kGroupRows,
      key_tiles * kTile,
      value_tiles * kTile};
  int64_t floats = 0;
  for (const int64_t size : sizes) {
    floats += size;
  }
  float* at = scratch_.at_least(floats);
  const auto next = [&](int64_t i) {
    float* here = at;
    at += sizes[i];
    return here;
  };
  const auto next_narrow = [&](int64_t i) {
    return reinterpret_cast<uint16_t*>(next(i));
  };
  AttendScratch scratch;
  scratch.scores = next(0);
  scratch.weights = next_narrow(1);
  scratch.largest = next(2);
  scratch.values = next_narrow(3);
  scratch.ring = next_narrow(4);
  scratch.products = next(5);
  scratch.second = next(6);
  scratch.key_tiles = next_narrow(7);
  scratch.value_tiles = next_narrow(8);
  return scratch;
}

/// The visible blocks of a split into views_; returns how many. Members of a
/// unit have the same images.
int64_t
AttendWorker::view_blocks(const AttendContext& context, const SplitRead& read) {
  const AttendJob& job = *context.job;
  const AttendUnit& unit = *read.unit;
  const RowSpan& row = job.rows[read.queries[0].row];
  const RowBlocks& blocks = job.blocks[read.queries[0].row];
  const int64_t keys = job.layout->offset(job.layer, unit.kv_head, 0).get();
  const int64_t values =
      job.layout->offset(job.layer, unit.kv_head, context.key_planes).get();
  const int64_t split = unit.splits.at(read.i);
  const int64_t end = std::min((split + 1) * kSplitBlocks, unit.blocks.end);
  int64_t count = 0;
  for (int64_t b = split * kSplitBlocks; b < end; ++b) {
    if (!unit.blocks.has(b)) {
      continue;
    }
    view_visible(context, read, b, visible_[count]);
    views_[count] = {
        .keys = blocks.images[b] + keys,
        .values = blocks.images[b] + values,
        .visible = visible_[count],
        .written = std::min(kBlockTokens, row.written() - b * kBlockTokens)};
    ++count;
  }
  return count;
}

void AttendWorker::view_visible(
    const AttendContext& context,
    const SplitRead& read,
    int64_t block,
    uint64_t* visible) {
  const AttendJob& job = *context.job;
  const Visibility& sees = job.spec->visibility;
  uint64_t* to = visible;
  for (const AttendQueries& member : read.queries) {
    const RowSpan& row = job.rows[member.row];
    for (int64_t r = 0; r < member.rows;) {
      // A token's heads see the same.
      const int64_t token = (member.first + r) / context.heads;
      const int64_t next =
          std::min(member.rows, (token + 1) * context.heads - member.first);
      const Sight sight = sight_at(sees, row, row.start + token);
      std::fill(to + r, to + next, visible_keys(sees, sight, block));
      r = next;
    }
    to += member.rows;
  }
  std::fill(to, visible + round_up(read.unit->rows, 16), uint64_t{0});
}

void AttendWorker::run_split(
    const AttendContext& context,
    const SplitRead& read,
    const Partial& result) {
  SplitJob& job = prepare(context, read);
  job.block_count = view_blocks(context, read);
  job.fetch = read.fetch;
  job.scratch = lay_out_scratch(context, job);
  job.result = result;
  context.kernels->split(job);
}

void AttendWorker::finish(
    const AttendContext& context,
    const AttendUnit& unit,
    const AttendQueries& queries,
    const Partial& total) {
  const AttendJob& job = *context.job;
  const AttentionSpec& spec = *job.spec;
  for (int64_t r = 0; r < queries.rows; ++r) {
    const int64_t index = query_index(context, unit, queries, r);
    float* out = job.out + index * spec.value_dim;
    context.kernels->finish(
        total,
        r,
        spec.value_dim,
        spec.sink_logits.empty() ? nullptr
                                 : &spec.sink_logits[index % spec.query_heads],
        out);
    if (stored_rotated(*job.values)) {
      unrotate({out, static_cast<size_t>(spec.value_dim)});
    }
  }
}

} // namespace holdfast::cpu
