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

/// Groups of a vector, one a lane.
inline constexpr int64_t kMostGroups = kAffineMaxDim / 32;
static_assert(kMostGroups == kLanes);

/// A group's scale and bias, not rounded yet.
struct AffineFit {
  float scale;
  float bias;
};

inline AffineFit fit_range(float low, float high, float top) {
  const bool from_low = __builtin_fabsf(low) > __builtin_fabsf(high);
  const float edge = from_low ? low : high;
  const float even = (high - low) / top;
  const float size = even > 1e-7f ? even : 1e-7f;
  const float scale = from_low ? size : -size;
  const float steps = __builtin_rintf(edge / scale);
  return steps != 0.0f ? AffineFit{edge / steps, edge} : AffineFit{scale, 0.0f};
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

/// One group of 16 * n elements.
template <int n, bool f16>
inline AffineFit
affine_encode_group(float top, const float* group, uint8_t* codes) {
  __m512 x[n];
  __m512i largest = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    const __m512i bits = load_words(group + 16 * i);
    largest = _mm512_max_epu32(largest, magnitude(bits));
    x[i] = _mm512_castsi512_ps(rounded_to_bf16(bits));
    if constexpr (f16) {
      x[i] = rounded_to_f16(x[i]);
    }
  }
  // The first magnitudes that round to infinity: by way of bf16, 65408 is the
  // first that f16 does not hold.
  const __m512i limit = _mm512_set1_epi32(f16 ? 0x477f8000 : 0x7f7f8000);
  if (_mm512_cmpge_epu32_mask(largest, limit) != 0) {
    __builtin_memset(codes, 0, 16 * n);
    return {__builtin_nanf(""), __builtin_nanf("")};
  }
  __m512 low = x[0];
  __m512 high = x[0];
#pragma GCC unroll 8
  for (int i = 1; i < n; ++i) {
    low = _mm512_min_ps(low, x[i]);
    high = _mm512_max_ps(high, x[i]);
  }
  const AffineFit fit =
      fit_range(_mm512_reduce_min_ps(low), _mm512_reduce_max_ps(high), top);
  const __m512 bias = _mm512_set1_ps(fit.bias);
  const __m512 scale = _mm512_set1_ps(fit.scale);
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    const __m512 exact = _mm512_div_ps(_mm512_sub_ps(x[i], bias), scale);
    // 0 / 0 becomes 0.
    const __m512 positive = _mm512_max_ps(exact, _mm512_setzero_ps());
    const __m512 within = _mm512_min_ps(positive, _mm512_set1_ps(top));
    store_codes(_mm512_cvtps_epi32(within), codes + 16 * i);
  }
  return fit;
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

template <int n, bool f16>
inline void affine_encode_groups(
    const AffineVector& vector,
    AffineScale* scales,
    uint8_t* codes) {
  const auto top = static_cast<float>((1 << vector.bits) - 1);
  float scale[kMostGroups] = {};
  float bias[kMostGroups] = {};
  const int64_t groups = vector.dim / (16 * n);
  for (int64_t g = 0; g < groups; ++g) {
    const AffineFit fit = affine_encode_group<n, f16>(
        top, vector.vector + g * 16 * n, codes + g * 16 * n);
    scale[g] = fit.scale;
    bias[g] = fit.bias;
  }
  uint16_t narrow_scale[kMostGroups];
  uint16_t narrow_bias[kMostGroups];
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(narrow_scale), narrowed<f16>(scale));
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(narrow_bias), narrowed<f16>(bias));
  for (int64_t g = 0; g < groups; ++g) {
    scales[g] = {narrow_scale[g], narrow_bias[g]};
  }
}

template <bool f16>
inline void affine_encode_by_group(
    const AffineVector& vector,
    AffineScale* scales,
    uint8_t* codes) {
  vector.group == 32 ? affine_encode_groups<2, f16>(vector, scales, codes)
      : vector.group == 64
      ? affine_encode_groups<4, f16>(vector, scales, codes)
      : affine_encode_groups<8, f16>(vector, scales, codes);
}

inline void affine_encode_loop(
    const AffineVector& vector,
    AffineScale* scales,
    uint8_t* codes) {
  affine_scale_format(vector.bits) == DenseFormat::kF16
      ? affine_encode_by_group<true>(vector, scales, codes)
      : affine_encode_by_group<false>(vector, scales, codes);
}

} // namespace
} // namespace holdfast
