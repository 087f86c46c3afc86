// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One unit over one split: scores, softmax weights, value sums, for any key and
// value format and any Isa:
//   V             16 f32 lanes (math-inl.h)        Tiles  tile-inl.h
//   load_f16      16 halves to V                 load_bf16  likewise
//   narrow_bf16   V to 16 bf16, returns what those are as V
//   narrow_weights  two V to 32 bf16, and to what their even and odd ones are
//   expand        codes of a block to 16 bits    attend_expand_*-inl.h
//   narrow_f16    V to 16 halves
//   select        bit i ? a[i] : b[i]              largest  of the lanes
// Include it in a kernel's .cpp file alone, after its Isa.

#pragma once

#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/append-inl.h"
#include "holdfast/kernels/cpu/attend_coded_keys-inl.h"
#include "holdfast/kernels/cpu/attend_coded_values-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/attend_keys-inl.h"
#include "holdfast/kernels/cpu/attend_values-inl.h"
#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

/// Raw scores of a block to shaped ones; their largest, lane by lane, joins
/// scratch.largest.
template <class Isa>
inline void shape_scores(const ScorePass& pass) {
  using V = typename Isa::V;
  const SplitJob& job = *pass.job;
  const V scale = V::set(job.scale);
  for (int64_t r = 0; r < pass.rows; ++r) {
    float* s = pass.scores + r * kScoreRow;
    V largest = V::load(job.scratch.largest + 16 * r);
    for (int i = 0; i < 4; ++i) {
      if ((pass.steps >> (i / 2) & 1) != 0) {
        shape_score<Isa>(
            job,
            V::load(s + 16 * i) * scale,
            static_cast<uint16_t>(pass.visible[r] >> (16 * i)),
            s + 16 * i,
            largest);
      }
    }
    largest.store(job.scratch.largest + 16 * r);
  }
}

/// What a split asks of its keys' form, and of its values'. `prepare` comes
/// once a split, before its groups of rows.
template <class Isa>
struct KeyForm {
  void (*prepare)(const SplitJob&);
  /// Products of a block, and what makes them shaped scores: that waits until
  /// the next block's products are on their way.
  void (*scores)(typename Isa::Tiles&, const ScorePass&);
  void (*shape)(const ScorePass&);
};
template <class Isa>
struct ValueForm {
  void (*prepare)(const SplitJob&);
  void (*weigh)(const ValuePass&);
  void (*values)(typename Isa::Tiles&, const ValuePass&);
};

/// Indices are PlaneForms: keys and values meet in the scratch alone.
template <class Isa>
inline const KeyForm<Isa>& key_form(PlaneForm form) {
  using F32 = RowKeys<Isa, F32Elements>;
  using F16 = RowKeys<Isa, F16Elements>;
  using Bf16 = TiledKeys<Isa>;
  using Codes = CodedKeys<Isa>;
  static constexpr KeyForm<Isa> forms[kPlaneForms] = {
      {F32::prepare, F32::scores, shape_scores<Isa>},
      {F16::prepare, F16::scores, shape_scores<Isa>},
      {Bf16::prepare, Bf16::scores, shape_scores<Isa>},
      {Codes::prepare, Codes::scores, Codes::shape}};
  return forms[static_cast<int>(form)];
}
template <class Isa>
inline const ValueForm<Isa>& value_form(PlaneForm form) {
  using F32 = RowValues<Isa, F32Elements>;
  using F16 = RowValues<Isa, F16Elements>;
  using Bf16 = TiledValues<Isa>;
  using Codes = CodedValues<Isa>;
  static constexpr ValueForm<Isa> forms[kPlaneForms] = {
      {F32::prepare, weigh_group<Isa, F32::kNarrow>, F32::values},
      {F16::prepare, weigh_group<Isa, F16::kNarrow>, F16::values},
      {Bf16::prepare, weigh_group<Isa, Bf16::kNarrow>, Bf16::values},
      {Codes::prepare, Codes::weigh, Codes::values}};
  return forms[static_cast<int>(form)];
}

template <class Isa>
inline void attend_group(
    typename Isa::Tiles& tiles,
    const SplitJob& job,
    int64_t row,
    int64_t rows) {
  using V = typename Isa::V;
  uint64_t any[kSplitBlocks] = {}; // keys that some row sees
  for (int64_t b = 0; b < job.block_count; ++b) {
    for (int64_t r = 0; r < rows; ++r) {
      any[b] |= job.blocks[b].visible[row + r];
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    V::set(kNothing).store(job.scratch.largest + 16 * r);
  }
  const KeyForm<Isa>& keys = key_form<Isa>(job.keys->form);
  ScorePass last{};
  int64_t turn = 0;
  for (int64_t b = 0; b < job.block_count; ++b) {
    if (any[b] == 0) {
      continue;
    }
    const BlockView& block = job.blocks[b];
    const ScorePass pass{
        .job = &job,
        .row = row,
        .rows = rows,
        .steps = ((any[b] & 0xffffffffu) != 0 ? 1u : 0u) |
            ((any[b] >> kStepTokens) != 0 ? 2u : 0u),
        .block = b,
        .turn = turn++,
        .keys = block.keys,
        .visible = block.visible + row,
        .scores = job.scratch.scores + b * 64};
    keys.scores(tiles, pass);
    if (last.job != nullptr) {
      keys.shape(last);
    }
    last = pass;
  }
  if (last.job != nullptr) {
    keys.shape(last);
  }
  const ValuePass pass{.job = &job, .row = row, .rows = rows, .visible = any};
  const ValueForm<Isa>& values = value_form<Isa>(job.values->form);
  values.weigh(pass);
  values.values(tiles, pass);
}

template <class Isa>
void attend_split(const SplitJob& job) {
  typename Isa::Tiles tiles(static_cast<int>(job.rows < 16 ? job.rows : 16));
  key_form<Isa>(job.keys->form).prepare(job);
  value_form<Isa>(job.values->form).prepare(job);
  for (int64_t row = 0; row < job.rows; row += kGroupRows) {
    const int64_t left = job.rows - row;
    attend_group<Isa>(tiles, job, row, left < kGroupRows ? left : kGroupRows);
  }
}

/// Folds terms (max, sum) into a result's, 16 rows at a time: bit i of `seen`
/// says whether row i has any. Returns the weights of the two sides.
template <class Isa>
inline void fold_terms(
    uint16_t seen,
    const float* max,
    const float* sum,
    float* result_max,
    float* result_sum,
    float* old_weight,
    float* fresh_weight) {
  using V = typename Isa::V;
  const V old_max = V::load(result_max);
  const V old_sum = V::load(result_sum);
  const V fresh_max = V::load(max);
  const V both = V::max(old_max, fresh_max);
  const V a = exp_nonpositive(old_max - both);
  const V b = exp_nonpositive(fresh_max - both);
  const V total = V::fma(V::load(sum), b, old_sum * a);
  a.store(old_weight);
  b.store(fresh_weight);
  Isa::select(seen, both, old_max).store(result_max);
  Isa::select(seen, total, old_sum).store(result_sum);
}

template <class Isa>
void fold_partial(
    const Partial& total,
    const Partial& part,
    int64_t rows,
    int64_t value_dim) {
  using V = typename Isa::V;
  alignas(64) float old_weight[16];
  alignas(64) float fresh_weight[16];
  for (int64_t row = 0; row < rows; row += 16) {
    const int64_t left = rows - row;
    const int64_t count = left < 16 ? left : 16;
    uint16_t seen = 0;
    for (int64_t r = 0; r < count; ++r) {
      seen |= static_cast<uint16_t>((part.max[row + r] != kNothing) << r);
    }
    uint16_t first = 0;
    for (int64_t r = 0; r < count; ++r) {
      first |= static_cast<uint16_t>((total.max[row + r] == kNothing) << r);
    }
    fold_terms<Isa>(
        seen,
        part.max + row,
        part.sum + row,
        total.max + row,
        total.sum + row,
        old_weight,
        fresh_weight);
    for (int64_t r = 0; r < count; ++r) {
      if ((seen >> r & 1) == 0) {
        continue;
      }
      float* out = total.out + (row + r) * value_dim;
      const float* add = part.out + (row + r) * value_dim;
      if ((first >> r & 1) != 0) {
        std::memcpy(out, add, static_cast<size_t>(value_dim) * sizeof(float));
        continue;
      }
      const V a = V::set(old_weight[r]);
      const V b = V::set(fresh_weight[r]);
      for (int64_t d = 0; d < value_dim; d += 16) {
        V::fma(V::load(add + d), b, V::load(out + d) * a).store(out + d);
      }
    }
  }
}

template <class Isa>
void finish_row(
    const Partial& total,
    int64_t row,
    int64_t value_dim,
    const float* sink,
    float* out) {
  using V = typename Isa::V;
  const V max = V::set(total.max[row]);
  V sum = V::set(total.sum[row]);
  V weight = V::set(1.0f);
  if (sink != nullptr) {
    const V logit = V::set(*sink);
    const V both = V::max(max, logit);
    weight = exp_nonpositive(max - both);
    sum = V::fma(sum, weight, exp_nonpositive(logit - both));
  }
  const V scale = weight / sum;
  const float* from = total.out + row * value_dim;
  for (int64_t d = 0; d < value_dim; d += 16) {
    (V::load(from + d) * scale).store(out + d);
  }
}

template <class Isa>
AttendKernels make_attend_kernels() {
  return {
      {RowKeys<Isa, F32Elements>::pack_query,
       RowKeys<Isa, F16Elements>::pack_query,
       TiledKeys<Isa>::pack_query},
      CodedKeys<Isa>::pack_query,
      attend_split<Isa>,
      {append_f32_keys, append_f16_keys<Isa>, append_bf16_keys<Isa>},
      {append_f32_values, append_f16_values<Isa>, append_bf16_values<Isa>},
      fold_partial<Isa>,
      finish_row<Isa>};
}

} // namespace
} // namespace holdfast::cpu
