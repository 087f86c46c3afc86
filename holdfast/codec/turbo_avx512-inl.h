// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// turbo_encode() of vector_loops.h: the numbers of turbo_loops-inl.h in the
// same order, four steps at once. Include it in vector_loops_avx512.cpp alone.

#pragma once

#include "holdfast/codec/rotation_avx512-inl.h"
#include "holdfast/codec/turbo_books.h"
#include "holdfast/codec/turbo_layout.h"
#include "holdfast/codec/turbo_steps.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

inline constexpr int kTrials = 4;
static_assert(sizeof(kTurboSteps) == kTrials * sizeof(float));

/// The positive half of a table, found by twice the size of an element. The
/// midpoints of levels, twice, are integers below 256, so that the integer part
/// decides. Of 2 and 3 bits it is compared with each; of 4 and 5 bits, any
/// eight neighbouring integers hold at most one, which is looked up by the
/// integer over eight.
template <int bits>
class Ladder {
 public:
  static constexpr int kHalf = 1 << (bits - 1);

  Ladder() {
    const Tables& tables = kTables;
    levels_ = _mm512_loadu_ps(tables.levels);
    low_ = load_words(tables.cells);
    high_ = load_words(tables.cells + 16);
  }
  /// The lowest four bits are the index of the level, 0 the lowest.
  __m512i index(__m512 twice) const {
    if constexpr (bits < 4) {
      __m512i index = _mm512_setzero_si512();
#pragma GCC unroll 3
      for (int k = 0; k + 1 < kHalf; ++k) {
        const __mmask16 above = _mm512_cmp_ps_mask(
            twice, _mm512_set1_ps(kTables.middles[k]), _CMP_GE_OQ);
        index =
            _mm512_mask_add_epi32(index, above, index, _mm512_set1_epi32(1));
      }
      return index;
    } else {
      const __m512i whole = _mm512_min_epu32(
          _mm512_cvttps_epi32(twice), _mm512_set1_epi32(kCells * 8 - 1));
      const __m512i cell =
          _mm512_permutex2var_epi32(low_, _mm512_srli_epi32(whole, 3), high_);
      const __mmask16 above =
          _mm512_cmpge_epu32_mask(whole, _mm512_srli_epi32(cell, 4));
      return _mm512_mask_add_epi32(cell, above, cell, _mm512_set1_epi32(1));
    }
  }
  __m512 level(__m512i index) const {
    return _mm512_permutexvar_ps(index, levels_);
  }

 private:
  static constexpr int kCells = 32;
  struct Tables {
    float levels[16];
    float middles[kHalf]; // twice; the last is none
    uint32_t cells[kCells]; // 16 * twice the middle in it + index below that
  };
  static constexpr Tables make_tables() {
    const int8_t* levels = kTurboBooks[bits - 2].levels + kHalf;
    Tables tables{};
    for (int i = 0; i < kHalf; ++i) {
      tables.levels[i] = levels[i];
    }
    int next = 0; // of the middles
    for (int cell = 0; cell < kCells; ++cell) {
      const int end = 8 * (cell + 1);
      const bool more = next + 1 < kHalf;
      const int middle = more ? levels[next] + levels[next + 1] : end;
      tables.cells[cell] = static_cast<uint32_t>(
          16 * (middle < end ? middle : kCells * 8) + next);
      if (more) {
        tables.middles[next] = static_cast<float>(middle);
        next += middle < end ? 1 : 0;
      }
    }
    return tables;
  }
  static constexpr Tables kTables = make_tables();

  __m512 levels_;
  __m512i low_;
  __m512i high_;
};

inline __m512 magnitude_at(const float* x) {
  return _mm512_castsi512_ps(magnitude(load_words(x)));
}

inline float sum_of_squares(const float* x, int64_t dim) {
  __m512 sum = _mm512_setzero_ps();
  for (int64_t d = 0; d < dim; d += kLanes) {
    const __m512 v = _mm512_loadu_ps(x + d);
    sum = _mm512_add_ps(sum, _mm512_mul_ps(v, v));
  }
  return sum_of_lanes(sum);
}

/// Codes for one step: indices from the middle of the table up for positive
/// elements, down for negative ones.
template <int bits>
inline void put_levels(
    const Ladder<bits>& ladder,
    const float* rotated,
    int64_t dim,
    float twice_step,
    uint8_t* codes) {
  constexpr int half = Ladder<bits>::kHalf;
  const __m512i top = _mm512_set1_epi32(half - 1);
  for (int64_t d = 0; d < dim; d += kLanes) {
    const __m512 x = _mm512_loadu_ps(rotated + d);
    const __m512 twice =
        _mm512_mul_ps(magnitude_at(rotated + d), _mm512_set1_ps(twice_step));
    const __m512i index = _mm512_and_si512(ladder.index(twice), top);
    const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
    const __m512i code = _mm512_add_epi32(index, _mm512_set1_epi32(half));
    store_codes(_mm512_mask_sub_epi32(code, negative, top, index), codes + d);
  }
}

/// Sums over a vector, one lane a trial.
struct Trials {
  __m128 products; // of sizes and levels
  __m128 lengths; // of squared levels: integers below 2^24, exact
};

/// steps: twice what an element is multiplied by to be compared with levels.
template <int bits>
inline Trials try_steps(
    const Ladder<bits>& ladder,
    const float* rotated,
    int64_t dim,
    const float (&steps)[kTrials]) {
  __m512 product[kTrials];
  __m512 length[kTrials];
#pragma GCC unroll 4
  for (int i = 0; i < kTrials; ++i) {
    product[i] = length[i] = _mm512_setzero_ps();
  }
  for (int64_t d = 0; d < dim; d += kLanes) {
    const __m512 size = magnitude_at(rotated + d);
#pragma GCC unroll 4
    for (int i = 0; i < kTrials; ++i) {
      const __m512 twice = _mm512_mul_ps(size, _mm512_set1_ps(steps[i]));
      const __m512 level = ladder.level(ladder.index(twice));
      product[i] = _mm512_add_ps(product[i], _mm512_mul_ps(size, level));
      length[i] = _mm512_fmadd_ps(level, level, length[i]);
    }
  }
  return {sums_of_lanes(product), sums_of_lanes(length)};
}

/// The first of the best trials.
inline int best_of(const Trials& trials) {
  const __m128 quality =
      _mm_mul_ps(_mm_div_ps(trials.products, trials.lengths), trials.products);
  __m128 best = _mm_max_ps(quality, _mm_movehl_ps(quality, quality));
  best = _mm_max_ss(best, _mm_movehdup_ps(best));
  const int equal =
      _mm_movemask_ps(_mm_cmpeq_ps(quality, _mm_broadcastss_ps(best)));
  return __builtin_ctz(static_cast<unsigned>(equal));
}

/// Vectors on their way: what one waits for, the others fill.
struct TurboBatch {
  alignas(64) float rotated[kVectorsAtOnce * kTurboMaxDim]; // [vectors][dim]
  alignas(64) float squares[kVectorsAtOnce];
  alignas(64) float products[kVectorsAtOnce];
};

template <int bits>
inline void encode_by_book(const CodedVectors& vectors, TurboBatch& batch) {
  const Ladder<bits> ladder;
  const auto dim = static_cast<float>(vectors.dim);
  const __m512 rms = _mm512_sqrt_ps(
      _mm512_div_ps(_mm512_load_ps(batch.squares), _mm512_set1_ps(dim)));
  const __m512 unit =
      _mm512_div_ps(_mm512_set1_ps(kTurboBooks[bits - 2].scale), rms);
  alignas(64) float steps[kTrials][kVectorsAtOnce];
  for (int i = 0; i < kTrials; ++i) {
    const __m512 step = _mm512_mul_ps(unit, _mm512_set1_ps(kTurboSteps[i]));
    _mm512_store_ps(steps[i], _mm512_mul_ps(_mm512_set1_ps(2.0f), step));
  }
  float best[kVectorsAtOnce];
  for (int64_t v = 0; v < vectors.count; ++v) {
    const float own[kTrials] = {
        steps[0][v], steps[1][v], steps[2][v], steps[3][v]};
    const Trials trials =
        try_steps(ladder, batch.rotated + v * vectors.dim, vectors.dim, own);
    const int first = best_of(trials);
    float products[kTrials];
    _mm_storeu_ps(products, trials.products);
    best[v] = steps[first][v];
    batch.products[v] = products[first];
  }
  for (int64_t v = 0; v < vectors.count; ++v) {
    put_levels(
        ladder,
        batch.rotated + v * vectors.dim,
        vectors.dim,
        best[v],
        vectors.codes_of(v));
  }
}

inline float encode_uniform(const float* rotated, int64_t dim, uint8_t* codes) {
  __m512i peaks = _mm512_setzero_si512(); // as integers they sort likewise
  for (int64_t d = 0; d < dim; d += kLanes) {
    peaks = _mm512_max_epu32(peaks, magnitude(load_words(rotated + d)));
  }
  const __m512 step = _mm512_set1_ps(
      127.0f / std::bit_cast<float>(_mm512_reduce_max_epu32(peaks)));
  __m512 product = _mm512_setzero_ps();
  for (int64_t d = 0; d < dim; d += kLanes) {
    const __m512 x = _mm512_loadu_ps(rotated + d);
    __m512i level = _mm512_cvtps_epi32(_mm512_mul_ps(x, step));
    level = _mm512_max_epi32(level, _mm512_set1_epi32(-127));
    level = _mm512_min_epi32(level, _mm512_set1_epi32(127));
    store_codes(
        _mm512_sub_epi32(level, _mm512_set1_epi32(kTurboUniformZero)),
        codes + d);
    product =
        _mm512_add_ps(product, _mm512_mul_ps(x, _mm512_cvtepi32_ps(level)));
  }
  return sum_of_lanes(product);
}

/// As round_to_bf16().
inline bool round_vector(const float* vector, int64_t dim, float* rounded) {
  __m512i bad = _mm512_setzero_si512();
  for (int64_t d = 0; d < dim; d += kLanes) {
    const __m512i bits = load_words(vector + d);
    bad = _mm512_max_epu32(bad, magnitude(bits));
    _mm512_storeu_si512(rounded + d, rounded_to_bf16(bits));
  }
  return _mm512_cmpge_epu32_mask(bad, _mm512_set1_epi32(0x7f7f8000)) == 0;
}

inline void
encode_batch(int bits, const CodedVectors& vectors, TurboBatch& batch) {
  switch (bits) {
    case 2:
      return encode_by_book<2>(vectors, batch);
    case 3:
      return encode_by_book<3>(vectors, batch);
    case 4:
      return encode_by_book<4>(vectors, batch);
    case 5:
      return encode_by_book<5>(vectors, batch);
    default:
      for (int64_t v = 0; v < vectors.count; ++v) {
        batch.products[v] = encode_uniform(
            batch.rotated + v * vectors.dim, vectors.dim, vectors.codes_of(v));
      }
  }
}

/// The vectors rotated, and their sums of squares; which ones are finite, and
/// of these which are not stored as zero. The others become vectors of ones.
struct Rotated {
  uint32_t finite = 0; // a bit a vector
  uint32_t large = 0;
};
inline Rotated rotate_batch(const CodedVectors& vectors, TurboBatch& batch) {
  Rotated result;
  const int64_t dim = vectors.dim;
  for (int64_t v = 0; v < vectors.count; ++v) {
    float* rotated = batch.rotated + v * dim;
    const bool rounded = round_vector(vectors.vector(v), dim, rotated);
    rotate_loop(rotated, dim);
    batch.squares[v] = sum_of_squares(rotated, dim);
    const bool finite = rounded && batch.squares[v] < __builtin_inff();
    const bool large = finite && batch.squares[v] >= kTurboSmallest;
    result.finite |= (finite ? 1u : 0u) << v;
    result.large |= (large ? 1u : 0u) << v;
    if (!large) [[unlikely]] {
      for (int64_t d = 0; d < dim; ++d) {
        rotated[d] = 1.0f;
      }
      batch.squares[v] = static_cast<float>(dim);
    }
  }
  return result;
}

inline void
turbo_encode_loop(int bits, const CodedVectors& vectors, float* norms) {
  TurboBatch batch;
  for (int64_t v = 0; v < kVectorsAtOnce; ++v) {
    batch.squares[v] = batch.products[v] = 1.0f;
  }
  const Rotated rotated = rotate_batch(vectors, batch);
  encode_batch(bits, vectors, batch);
  _mm512_mask_storeu_ps(
      norms,
      static_cast<__mmask16>((1u << vectors.count) - 1),
      _mm512_div_ps(
          _mm512_load_ps(batch.squares), _mm512_load_ps(batch.products)));
  for (int64_t v = 0; v < vectors.count; ++v) {
    if ((rotated.large >> v & 1u) == 0) [[unlikely]] {
      const int zero = bits == 8 ? -kTurboUniformZero : 1 << (bits - 1);
      __builtin_memset(
          vectors.codes_of(v), zero, static_cast<size_t>(vectors.dim));
      const bool finite = (rotated.finite >> v & 1u) != 0;
      norms[v] = finite ? 0.0f : std::bit_cast<float>(0x7fc00000u);
    }
  }
}

} // namespace
} // namespace holdfast
