// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// f32 to 16-bit numbers with AVX2, as base/bits.h rounds: to nearest even; a
// NaN keeps its sign and what fits of its payload. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {
namespace {

/// A NaN's high bits, with `bit` where no bit under `mask` is left.
inline __m256i quiet_nan(__m256i high, int mask, int bit) {
  const __m256i nothing = _mm256_cmpeq_epi32(
      _mm256_and_si256(high, _mm256_set1_epi32(mask)), _mm256_setzero_si256());
  return _mm256_or_si256(
      high, _mm256_and_si256(nothing, _mm256_set1_epi32(bit)));
}

inline void store_halves(__m256i x, uint16_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low_halves(x));
}

/// bf16 bits in the low halves of 32-bit lanes.
inline __m256i narrowed_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i top = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(
      _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd),
      16);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, quiet_nan(top, 0x7f, 0x40), nan);
}

/// The same for fp16.
inline __m256i narrowed_f16(__m256 x) {
  const __m256i halves = _mm256_cvtepu16_epi32(
      _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i sign =
      _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x8000));
  const __m256i payload =
      _mm256_and_si256(_mm256_srli_epi32(bits, 13), _mm256_set1_epi32(0x3ff));
  const __m256i kept = _mm256_or_si256(
      _mm256_or_si256(sign, _mm256_set1_epi32(0x7c00)),
      quiet_nan(payload, 0x3ff, 0x200));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(halves, kept, nan);
}

} // namespace
} // namespace holdfast::cpu
