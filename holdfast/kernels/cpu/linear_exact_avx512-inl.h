// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Exact products with AVX-512: rows as int16, products by pairs. Stateless; any
// thread.

#pragma once

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/intrinsics.h"
#include "holdfast/kernels/cpu/linear_exact-inl.h"

namespace holdfast::cpu {
namespace {

struct Avx512Output {
  using V = Avx512F32;

  /// Past the caches where it can: nobody reads it before they have been
  /// streamed over.
  static void store_output(V value, float* to) {
    if (reinterpret_cast<uintptr_t>(to) % 64 == 0) {
      _mm512_stream_ps(to, value.v);
    } else {
      value.store(to);
    }
  }
  /// Orders them before whatever tells other threads of them.
  static void end_output() {
    _mm_sfence();
  }
};

inline __m512 exact_halves(const uint8_t* from) {
  return _mm512_cvtph_ps(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

/// Of 16 columns.
template <bool kOffsets>
struct ExactScales {
  __m512 scale;
  __m512 offset;

  explicit ExactScales(const uint8_t* at)
      : scale(exact_halves(at)),
        offset(kOffsets ? exact_halves(at + 128) : scale) {}
};

/// sum = fma(whole number, row's scale * weight's scale, sum), and the
/// offset's. at: of the step and row.
template <bool kOffsets>
[[gnu::always_inline]] inline __m512 exact_add(
    __m512 sum,
    __m512i whole,
    const ExactRows& a,
    int64_t at,
    const ExactScales<kOffsets>& w) {
  const __m512 s = _mm512_set1_ps(a.scales[at]);
  if constexpr (!kOffsets) {
    whole = _mm512_sub_epi32(whole, _mm512_set1_epi32(a.zeros[at]));
  }
  sum = _mm512_fmadd_ps(
      _mm512_cvtepi32_ps(whole), _mm512_mul_ps(s, w.scale), sum);
  if constexpr (kOffsets) {
    sum = _mm512_fmadd_ps(
        _mm512_cvtepi32_ps(_mm512_set1_epi32(a.sums[at])),
        _mm512_mul_ps(s, w.offset),
        sum);
  }
  return sum;
}

template <bool kOffsets>
void exact_product_avx512(const ExactProductArgs& p) {
  const __m512i low = _mm512_set1_epi16(0xff);
  alignas(64) float sums[kExactRows * kPanelColumns] = {};
  for (int64_t step = 0; step < p.steps; ++step) {
    const ExactUnit unit = exact_unit(p, step);
    for (int64_t r = 0; r < p.rows; ++r) {
      const int8_t* q = p.a.numbers + step * kExactStepBytes + r * 64;
      const int64_t at = step * kExactRows + r;
      for (int t = 0; t < kPanelTiles; ++t) {
        __m512i whole = _mm512_setzero_si512();
        for (int w = 0; w < 8; ++w) {
          int32_t pairs[2]; // k 4w, 4w + 1 and 4w + 2, 4w + 3
          std::memcpy(pairs, q + 8 * w, sizeof pairs);
          const __m512i codes =
              _mm512_loadu_si512(unit.codes + 512 * t + 64 * w);
          whole = _mm512_add_epi32(
              whole,
              _mm512_madd_epi16(
                  _mm512_and_si512(codes, low), _mm512_set1_epi32(pairs[0])));
          whole = _mm512_add_epi32(
              whole,
              _mm512_madd_epi16(
                  _mm512_srli_epi16(codes, 8), _mm512_set1_epi32(pairs[1])));
        }
        float* sum = sums + r * kPanelColumns + 16 * t;
        _mm512_store_ps(
            sum,
            exact_add<kOffsets>(
                _mm512_load_ps(sum),
                whole,
                p.a,
                at,
                ExactScales<kOffsets>(unit.scales + 32 * t)));
      }
    }
  }
  exact_finish<Avx512Output>(p, sums);
}

} // namespace
} // namespace holdfast::cpu
