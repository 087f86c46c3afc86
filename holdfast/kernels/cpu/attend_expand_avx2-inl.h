// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles of codes to bf16 tiles with AVX2, for units of more query rows than a
// tile has; fewer take codes as they lie (attend_code_tiles_avx2-inl.h). 6 and
// 8 bits become bf16 of 2^-112 times the integer. Include it in a kernel's .cpp
// file alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_codes_avx2-inl.h"
#include "holdfast/kernels/cpu/attend_fetch-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {
namespace {

/// 16 integers below 256 to bf16 of 2^-112 times them.
inline __m256i narrow_integers(__m256i x) {
  const __m256 scale = _mm256_set1_ps(0x1p-112f);
  const __m256i even = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
  const __m256i odd = _mm256_srli_epi32(x, 16);
  const __m256i low =
      _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(even), scale));
  const __m256i high =
      _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(odd), scale));
  return _mm256_or_si256(_mm256_srli_epi32(low, 16), high);
}

/// What to_bf16 makes of each row's codes into a tile [16][32].
template <int kBits, class F>
inline void expand_tile(const std::byte* from, F to_bf16, uint16_t* tile) {
  for (int half = 0; half < 2; ++half) {
    each_code_row<kBits, 1>(
        from + 32 * half,
        [&]<int>(int row, __m256i codes) __attribute__((always_inline)) {
          _mm256_storeu_si256(
              reinterpret_cast<__m256i*>(tile + 32 * row + 16 * half),
              to_bf16(codes));
        });
  }
}

/// `count` tiles of codes to `count` tiles [16][32] of what they stand for, a
/// step of the fetch list after each.
inline void expand_tiles_avx2(
    const CodedPlanes& codes,
    const std::byte* from,
    int64_t count,
    uint16_t* to,
    FetchList& fetch) {
  const auto each = [&]<int kBits>(auto to_bf16) {
    for (int64_t i = 0; i < count; ++i) {
      expand_tile<kBits>(from + i * 64 * kBits, to_bf16, to + i * 512);
      fetch_step(fetch);
    }
  };
  const auto look_up = [&]<int kBits>() {
    const LevelTable<kBits> levels(codes.levels);
    each.template operator()<kBits>(
        [&](__m256i x) { return levels.look_up(x); });
  };
  const auto narrow = [](__m256i x) { return narrow_integers(x); };
  switch (codes.bits) {
    case 2:
      return look_up.template operator()<2>();
    case 3:
      return look_up.template operator()<3>();
    case 4:
      return look_up.template operator()<4>();
    case 5:
      return look_up.template operator()<5>();
    case 6:
      return each.template operator()<6>(narrow);
    default:
      return each.template operator()<8>(narrow);
  }
}

} // namespace
} // namespace holdfast::cpu
