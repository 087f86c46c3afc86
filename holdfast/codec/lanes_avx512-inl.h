// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sixteen elements in a register of AVX-512. Include it in
// vector_loops_avx512.cpp alone.

#pragma once

#include <cstdint>

// g++ 12 warns about the undefined vectors inside its intrinsics.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

namespace holdfast {
namespace {

inline constexpr int64_t kLanes = 16;

inline __m512i load_words(const void* from) {
  return _mm512_loadu_si512(from);
}
/// 16 codes as numbers.
inline __m512i load_codes(const uint8_t* from) {
  return _mm512_cvtepu8_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
inline void store_codes(__m512i codes, uint8_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(codes));
}
inline __m512i magnitude(__m512i bits) {
  return _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
}

/// Adds lanes 8, 4, 2 and 1 apart.
inline float sum_of_lanes(__m512 x) {
  const __m256 eight =
      _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
  const __m128 four = _mm_add_ps(
      _mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
/// The same of four vectors at once.
inline __m128 sums_of_lanes(const __m512 (&x)[4]) {
  __m128 four[4];
  for (int i = 0; i < 4; ++i) {
    const __m256 eight = _mm256_add_ps(
        _mm512_castps512_ps256(x[i]), _mm512_extractf32x8_ps(x[i], 1));
    four[i] = _mm_add_ps(
        _mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  }
  _MM_TRANSPOSE4_PS(four[0], four[1], four[2], four[3]);
  return _mm_add_ps(_mm_add_ps(four[0], four[2]), _mm_add_ps(four[1], four[3]));
}

/// Lane c of x[r] changes places with lane r of x[c].
inline void transpose(__m512i (&x)[16]) {
  __m512i pairs[16];
  __m512i fours[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  // A quarter k of fours[4 i + j] holds lane 4 k + j of x[4 i] to x[4 i + 3].
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i even_low = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0x88);
    const __m512i even_high =
        _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(fours[j], fours[4 + j], 0xdd);
    const __m512i odd_high =
        _mm512_shuffle_i32x4(fours[8 + j], fours[12 + j], 0xdd);
    x[j] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    x[4 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    x[8 + j] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    x[12 + j] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
}

/// Rounded to bf16 as round_to_bf16() does, as f32 bits.
inline __m512i rounded_to_bf16(__m512i bits) {
  const __m512i odd =
      _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded =
      _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  return _mm512_and_si512(rounded, _mm512_set1_epi32(int(0xffff0000)));
}

} // namespace
} // namespace holdfast
