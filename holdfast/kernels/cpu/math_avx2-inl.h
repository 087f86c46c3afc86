// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The 16 lanes of math-inl.h in two registers of AVX2, with FMA and F16C. Same
// bits as the other lanes. Include it in a kernel's .cpp file alone.

#pragma once

#include <immintrin.h>

#include <cstdint>

#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

struct Avx2F32 {
  __m256 low; // lanes 0 to 7
  __m256 high;

  /// All bits of lanes below n, which may lie outside [0, 8].
  static __m256i first(int64_t n) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const auto count = static_cast<int>(n < 0 ? 0 : n > 8 ? 8 : n);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane);
  }
  static Avx2F32 set(float x) {
    return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
  }
  static Avx2F32 load(const float* p) {
    return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
  }
  static Avx2F32 load_n(const float* p, int64_t n) {
    return {
        _mm256_maskload_ps(p, first(n)),
        _mm256_maskload_ps(p + 8, first(n - 8))};
  }
  void store(float* p) const {
    _mm256_storeu_ps(p, low);
    _mm256_storeu_ps(p + 8, high);
  }
  void store_n(float* p, int64_t n) const {
    _mm256_maskstore_ps(p, first(n), low);
    _mm256_maskstore_ps(p + 8, first(n - 8), high);
  }
  friend Avx2F32 operator+(Avx2F32 a, Avx2F32 b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
  }
  friend Avx2F32 operator-(Avx2F32 a, Avx2F32 b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
  }
  friend Avx2F32 operator*(Avx2F32 a, Avx2F32 b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
  }
  friend Avx2F32 operator/(Avx2F32 a, Avx2F32 b) {
    return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
  }
  static Avx2F32 fma(Avx2F32 a, Avx2F32 b, Avx2F32 c) {
    return {
        _mm256_fmadd_ps(a.low, b.low, c.low),
        _mm256_fmadd_ps(a.high, b.high, c.high)};
  }
  static Avx2F32 min(Avx2F32 a, Avx2F32 b) {
    return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
  }
  static Avx2F32 max(Avx2F32 a, Avx2F32 b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
  }
  static Avx2F32 abs(Avx2F32 a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
  }
  static Avx2F32 copy_sign(Avx2F32 a, Avx2F32 sign) {
    const __m256 bit = _mm256_set1_ps(-0.0f);
    const auto one = [&](__m256 x, __m256 s) {
      return _mm256_or_ps(_mm256_andnot_ps(bit, x), _mm256_and_ps(bit, s));
    };
    return {one(a.low, sign.low), one(a.high, sign.high)};
  }
  static Avx2F32 if_less(Avx2F32 x, Avx2F32 bound, Avx2F32 a, Avx2F32 b) {
    const __m256 low_less = _mm256_cmp_ps(x.low, bound.low, _CMP_LT_OQ);
    const __m256 high_less = _mm256_cmp_ps(x.high, bound.high, _CMP_LT_OQ);
    return {
        _mm256_blendv_ps(b.low, a.low, low_less),
        _mm256_blendv_ps(b.high, a.high, high_less)};
  }
  static Avx2F32 power_of_two(Avx2F32 biased) {
    const auto one = [](__m256 x) {
      return _mm256_castsi256_ps(_mm256_add_epi32(
          _mm256_slli_epi32(_mm256_castps_si256(x), 23),
          _mm256_set1_epi32(0x3f800000)));
    };
    return {one(biased.low), one(biased.high)};
  }
  float sum() const {
    const __m256 s8 = _mm256_add_ps(low, high);
    const __m128 s4 =
        _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
  }
};

/// 8 fp16 or bf16 numbers as f32.
inline __m256 widened_f16(const void* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}
inline __m256 widened_bf16(const void* from) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(
      _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from))),
      16));
}
/// The low halves of 8 32-bit lanes.
inline __m128i low_halves(__m256i x) {
  const __m256i packed =
      _mm256_packus_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0xffff)), x);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

} // namespace
} // namespace holdfast::cpu
