// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Exact products with AVX2: rows as int16, products by pairs. Stateless; any
// thread.

#pragma once

#include "holdfast/kernels/cpu/linear_exact-inl.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {
namespace {

struct Avx2Output {
  using V = Avx2F32;

  static void store_output(V value, float* to) {
    value.store(to);
  }
  static void end_output() {}
};

/// The whole numbers of one row against 8 columns. q: int16 [32]; codes: 32
/// bytes of each of 8 words, 64 apart.
inline __m256i exact_dot(const int8_t* q, const uint8_t* codes) {
  const __m256i low = _mm256_set1_epi16(0xff);
  __m256i whole = _mm256_setzero_si256();
  for (int w = 0; w < 8; ++w) {
    int32_t pairs[2]; // k 4w, 4w + 1 and 4w + 2, 4w + 3
    std::memcpy(pairs, q + 8 * w, sizeof pairs);
    const __m256i word =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 64 * w));
    whole = _mm256_add_epi32(
        whole,
        _mm256_madd_epi16(
            _mm256_and_si256(word, low), _mm256_set1_epi32(pairs[0])));
    whole = _mm256_add_epi32(
        whole,
        _mm256_madd_epi16(
            _mm256_srli_epi16(word, 8), _mm256_set1_epi32(pairs[1])));
  }
  return whole;
}

/// sum = fma(whole number, row's scale * weight's scale, sum), and the
/// offset's. at: of the step and row; scales: of these 8 columns.
template <bool kOffsets>
inline __m256 exact_add(
    __m256 sum,
    __m256i whole,
    const ExactRows& a,
    int64_t at,
    const uint8_t* scales) {
  const __m256 s = _mm256_set1_ps(a.scales[at]);
  if constexpr (!kOffsets) {
    whole = _mm256_sub_epi32(whole, _mm256_set1_epi32(a.zeros[at]));
  }
  sum = _mm256_fmadd_ps(
      _mm256_cvtepi32_ps(whole), _mm256_mul_ps(s, widened_f16(scales)), sum);
  if constexpr (kOffsets) {
    sum = _mm256_fmadd_ps(
        _mm256_cvtepi32_ps(_mm256_set1_epi32(a.sums[at])),
        _mm256_mul_ps(s, widened_f16(scales + 128)),
        sum);
  }
  return sum;
}

template <bool kOffsets>
void exact_product_avx2(const ExactProductArgs& p) {
  alignas(64) float sums[kExactRows * kPanelColumns] = {};
  for (int64_t step = 0; step < p.steps; ++step) {
    const ExactUnit unit = exact_unit(p, step);
    for (int64_t r = 0; r < p.rows; ++r) {
      const int8_t* q = p.a.numbers + step * kExactStepBytes + r * 64;
      for (int c = 0; c < kPanelColumns; c += 8) {
        const uint8_t* codes = unit.codes + c / 16 * 512 + c % 16 * 4;
        float* sum = sums + r * kPanelColumns + c;
        _mm256_store_ps(
            sum,
            exact_add<kOffsets>(
                _mm256_load_ps(sum),
                exact_dot(q, codes),
                p.a,
                step * kExactRows + r,
                unit.scales + 2 * c));
      }
    }
  }
  exact_finish<Avx2Output>(p, sums);
}

} // namespace
} // namespace holdfast::cpu
