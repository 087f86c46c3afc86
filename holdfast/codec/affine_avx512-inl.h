// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// affine_encode() of vector_loops.h with a group in registers: the numbers of
// affine_loops-inl.h. Include it in vector_loops_avx512.cpp alone.

#pragma once

#include "holdfast/codec/affine_layout.h"
#include "holdfast/codec/lanes_avx512-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

/// What 16 groups of vectors are on their way, one a lane.
struct AffineBatch {
  alignas(64) float low[kLanes];
  alignas(64) float high[kLanes];
  alignas(64) float scale[kLanes]; // not rounded yet
  alignas(64) float bias[kLanes];
};

/// As affine_encode_group() of affine_loops-inl.h; a group that is not finite
/// has the range NaN.
inline void fit_ranges(float top, AffineBatch& batch) {
  const __m512 low = _mm512_load_ps(batch.low);
  const __m512 high = _mm512_load_ps(batch.high);
  const __mmask16 from_low =
      _mm512_cmp_ps_mask(_mm512_abs_ps(low), _mm512_abs_ps(high), _CMP_GT_OQ);
  const __m512 edge = _mm512_mask_mov_ps(high, from_low, low);
  const __m512 even =
      _mm512_div_ps(_mm512_sub_ps(high, low), _mm512_set1_ps(top));
  const __m512 size = _mm512_max_ps(even, _mm512_set1_ps(1e-7f));
  const __m512 scale =
      _mm512_mask_sub_ps(size, ~from_low, _mm512_setzero_ps(), size);
  const __m512 steps = _mm512_roundscale_ps(
      _mm512_div_ps(edge, scale),
      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __mmask16 met =
      _mm512_cmp_ps_mask(steps, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  const __mmask16 bad = _mm512_cmp_ps_mask(low, low, _CMP_UNORD_Q);
  const __m512 nan = _mm512_set1_ps(__builtin_nanf(""));
  _mm512_store_ps(
      batch.scale,
      _mm512_mask_mov_ps(
          _mm512_mask_div_ps(scale, met, edge, steps), bad, nan));
  _mm512_store_ps(
      batch.bias, _mm512_mask_mov_ps(_mm512_maskz_mov_ps(met, edge), bad, nan));
}

/// bf16 numbers as f16 ones: those below 2^-14 change.
inline __m512 rounded_to_f16(__m512 x) {
  const __m512 half = _mm512_set1_ps(0.5f);
  const __m512i bits = _mm512_castps_si512(x);
  const __m512 size = _mm512_castsi512_ps(magnitude(bits));
  const __m512 rounded = _mm512_sub_ps(_mm512_add_ps(size, half), half);
  const __mmask16 small =
      _mm512_cmp_ps_mask(size, _mm512_set1_ps(0x1p-14f), _CMP_LT_OQ);
  // Signs from x.
  return _mm512_castsi512_ps(_mm512_mask_ternarylogic_epi32(
      bits,
      small,
      _mm512_castps_si512(rounded),
      _mm512_set1_epi32(int(0x80000000)),
      0xe4));
}

template <bool f16>
inline __m512 rounded(__m512i bits) {
  const __m512 x = _mm512_castsi512_ps(rounded_to_bf16(bits));
  return f16 ? rounded_to_f16(x) : x;
}

/// The range of a group of 16 * n elements, into lane `lane`.
template <int n, bool f16>
inline void find_range(const float* group, int64_t lane, AffineBatch& batch) {
  __m512i largest = _mm512_setzero_si512();
  __m512 low = _mm512_set1_ps(__builtin_inff());
  __m512 high = _mm512_set1_ps(-__builtin_inff());
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    const __m512i bits = load_words(group + 16 * i);
    const __m512 x = rounded<f16>(bits);
    largest = _mm512_max_epu32(largest, magnitude(bits));
    low = _mm512_min_ps(low, x);
    high = _mm512_max_ps(high, x);
  }
  // The first magnitudes that round to infinity: by way of bf16, 65408 is the
  // first that f16 does not hold.
  const __m512i limit = _mm512_set1_epi32(f16 ? 0x477f8000 : 0x7f7f8000);
  const bool bad = _mm512_cmpge_epu32_mask(largest, limit) != 0;
  batch.low[lane] = bad ? __builtin_nanf("") : _mm512_reduce_min_ps(low);
  batch.high[lane] = _mm512_reduce_max_ps(high);
}

template <int n, bool f16>
inline void put_group(
    float top,
    const float* group,
    int64_t lane,
    const AffineBatch& batch,
    uint8_t* codes) {
  const __m512 bias = _mm512_set1_ps(batch.bias[lane]);
  const __m512 scale = _mm512_set1_ps(batch.scale[lane]);
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    const __m512 x = rounded<f16>(load_words(group + 16 * i));
    const __m512 exact = _mm512_div_ps(_mm512_sub_ps(x, bias), scale);
    // 0 / 0, and a group that is not finite, become 0.
    const __m512 positive = _mm512_max_ps(exact, _mm512_setzero_ps());
    const __m512 within = _mm512_min_ps(positive, _mm512_set1_ps(top));
    store_codes(_mm512_cvtps_epi32(within), codes + 16 * i);
  }
}

/// Scales of all groups, rounded to f16 or bf16.
template <bool f16>
inline __m256i narrowed(const float* x) {
  const __m512 lanes = _mm512_loadu_ps(x);
  if constexpr (f16) {
    return _mm512_cvtps_ph(
        lanes, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    return _mm512_cvtepi32_epi16(
        _mm512_srli_epi32(rounded_to_bf16(_mm512_castps_si512(lanes)), 16));
  }
}

/// Where a group of 16 * n elements is, the groups counted vector by vector.
struct GroupPlace {
  const float* group;
  uint8_t* codes;
};
template <int n>
inline GroupPlace group_place(const CodedVectors& vectors, int64_t g) {
  const int64_t of_vector = vectors.dim / (16 * n);
  const int64_t v = g / of_vector;
  const int64_t d = g % of_vector * (16 * n);
  return {vectors.vector(v) + d, vectors.codes_of(v) + d};
}

template <int n, bool f16>
inline void
encode_groups(int bits, const CodedVectors& vectors, AffineScale* scales) {
  const auto top = static_cast<float>((1 << bits) - 1);
  const int64_t groups = vectors.count * (vectors.dim / (16 * n));
  AffineBatch batch{};
  for (int64_t first = 0; first < groups; first += kLanes) {
    const int64_t left = groups - first;
    const int64_t count = left < kLanes ? left : kLanes;
    for (int64_t i = 0; i < count; ++i) {
      find_range<n, f16>(group_place<n>(vectors, first + i).group, i, batch);
    }
    fit_ranges(top, batch);
    for (int64_t i = 0; i < count; ++i) {
      const GroupPlace at = group_place<n>(vectors, first + i);
      put_group<n, f16>(top, at.group, i, batch, at.codes);
    }
    // A scale and its bias are neighbours.
    const __m512i scale = _mm512_cvtepu16_epi32(narrowed<f16>(batch.scale));
    const __m512i bias = _mm512_cvtepu16_epi32(narrowed<f16>(batch.bias));
    _mm512_mask_storeu_epi32(
        scales + first,
        static_cast<__mmask16>((1u << count) - 1),
        _mm512_or_si512(scale, _mm512_slli_epi32(bias, 16)));
  }
}

template <bool f16>
inline void encode_by_group(
    const AffineWidths& widths,
    const CodedVectors& vectors,
    AffineScale* scales) {
  widths.group == 32 ? encode_groups<2, f16>(widths.bits, vectors, scales)
      : widths.group == 64
      ? encode_groups<4, f16>(widths.bits, vectors, scales)
      : encode_groups<8, f16>(widths.bits, vectors, scales);
}

inline void affine_encode_loop(
    const AffineWidths& widths,
    const CodedVectors& vectors,
    AffineScale* scales) {
  static_assert(sizeof(AffineScale) == 4);
  affine_scale_format(widths.bits) == DenseFormat::kF16
      ? encode_by_group<true>(widths, vectors, scales)
      : encode_by_group<false>(widths, vectors, scales);
}

} // namespace
} // namespace holdfast
