// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One unit over one split: scores, softmax terms and value sums block by block,
// for any key and value format and any Isa:
//   V             16 f32 lanes (math-inl.h)        Tiles  tile-inl.h
//   load_f16      16 halves to V
//   narrow_bf16   V to 16 bf16, returns what those are as V
//   narrow_f16    V to 16 halves
//   select        bit i ? a[i] : b[i]              largest  of the lanes
// Include it in a kernel's .cpp file alone, after its Isa.

#pragma once

#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/append-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/attend_keys-inl.h"
#include "holdfast/kernels/cpu/attend_values-inl.h"
#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

constexpr float kNothing = -__builtin_inff();

/// The terms of kGroupRows rows for one block.
struct GroupTerms {
  alignas(64) float max[kGroupRows];
  alignas(64) float sum[kGroupRows];
  alignas(64) float old_weight[kGroupRows];
  alignas(64) float fresh_weight[kGroupRows];
  RowState state[kGroupRows];
};

/// Scores of one row to weights exp(s - max), zero where unseen. The sum is
/// that of the weights as the values meet them. kNarrow: weights are bf16.
template <class Isa, bool kNarrow>
inline void
weigh_row(const SplitJob& job, int64_t r, uint64_t visible, GroupTerms& terms) {
  using V = typename Isa::V;
  float* s = job.scratch.scores + r * 64;
  const V nothing = V::set(kNothing);
  V x[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = V::load(s + 16 * i) * V::set(job.scale);
    if (job.softcap > 0.0f) {
      x[i] = tanh(x[i] / V::set(job.softcap)) * V::set(job.softcap);
    }
    if (visible != ~uint64_t{0}) {
      x[i] = Isa::select(
          static_cast<uint16_t>(visible >> (16 * i)), x[i], nothing);
    }
  }
  const float max =
      Isa::largest(V::max(V::max(x[0], x[1]), V::max(x[2], x[3])));
  for (int i = 0; i < 4; ++i) {
    x[i] = exp_nonpositive(x[i] - V::set(max));
    if constexpr (kNarrow) {
      x[i] = Isa::narrow_bf16(x[i], job.scratch.weights + r * 64 + 16 * i);
    } else {
      x[i].store(s + 16 * i);
    }
  }
  terms.max[r] = max;
  terms.sum[r] = ((x[0] + x[1]) + (x[2] + x[3])).sum();
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

template <class Isa, bool kNarrow>
inline void weigh_group(
    const SplitJob& job,
    int64_t row,
    int64_t rows,
    const uint64_t* visible,
    GroupTerms& terms) {
  const Partial& result = job.result;
  uint32_t seen = 0;
  for (int64_t r = 0; r < rows; ++r) {
    terms.state[r] = kSkip;
    if (visible[r] != 0) {
      weigh_row<Isa, kNarrow>(job, r, visible[r], terms);
      terms.state[r] = result.max[row + r] == kNothing ? kFirst : kFold;
      seen |= uint32_t{1} << r;
    }
  }
  for (int64_t r = 0; r < rows; r += 16) {
    fold_terms<Isa>(
        static_cast<uint16_t>(seen >> r),
        terms.max + r,
        terms.sum + r,
        result.max + row + r,
        result.sum + row + r,
        terms.old_weight + r,
        terms.fresh_weight + r);
  }
}

template <class Isa, class Keys, class Values>
void attend_split(const SplitJob& job) {
  typename Isa::Tiles tiles(static_cast<int>(job.rows < 16 ? job.rows : 16));
  GroupTerms terms = {};
  for (int64_t r = 0; r < (job.rows + 15) / 16 * 16; ++r) {
    job.result.max[r] = kNothing;
    job.result.sum[r] = 0.0f;
  }
  for (int64_t b = 0; b < job.block_count; ++b) {
    const BlockView& block = job.blocks[b];
    const BlockView* next =
        b + 1 < job.block_count ? job.blocks + b + 1 : job.next;
    Values::prepare(job, block);
    for (int64_t row = 0; row < job.rows; row += kGroupRows) {
      const int64_t left = job.rows - row;
      const int64_t rows = left < kGroupRows ? left : kGroupRows;
      const uint64_t* visible = block.visible + row;
      uint64_t any = 0;
      for (int64_t r = 0; r < rows; ++r) {
        any |= visible[r];
      }
      if (any == 0) {
        continue;
      }
      const std::byte* next_keys = next ? next->keys : nullptr;
      const std::byte* next_values = next ? next->values : nullptr;
      Keys::scores(tiles, {&job, row, rows, any, block.keys, next_keys});
      weigh_group<Isa, Values::kUsesTiles>(job, row, rows, visible, terms);
      Values::values(
          tiles,
          {&job,
           row,
           rows,
           any,
           block.values,
           next_values,
           block.written,
           terms.state,
           terms.old_weight,
           terms.fresh_weight});
      next = nullptr; // fetched once
    }
  }
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
  using K0 = RowKeys<Isa, F32Elements>;
  using K1 = RowKeys<Isa, F16Elements>;
  using K2 = TiledKeys<Isa>;
  using V0 = RowValues<Isa, F32Elements>;
  using V1 = RowValues<Isa, F16Elements>;
  using V2 = TiledValues<Isa>;
  return {
      {K0::pack_query, K1::pack_query, K2::pack_query},
      {{attend_split<Isa, K0, V0>,
        attend_split<Isa, K0, V1>,
        attend_split<Isa, K0, V2>},
       {attend_split<Isa, K1, V0>,
        attend_split<Isa, K1, V1>,
        attend_split<Isa, K1, V2>},
       {attend_split<Isa, K2, V0>,
        attend_split<Isa, K2, V1>,
        attend_split<Isa, K2, V2>}},
      {append_f32_keys, append_f16_keys<Isa>, append_bf16_keys<Isa>},
      {append_f32_values, append_f16_values<Isa>, append_bf16_values<Isa>},
      fold_partial<Isa>,
      finish_row<Isa>};
}

} // namespace
} // namespace holdfast::cpu
