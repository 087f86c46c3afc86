// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes to bf16 with AVX-512 F, BW: sums in f32, made odd where they are not
// exact, so that the rounding to fp16 is the only one. expand-inl.h defines the
// result. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/expand_vector-inl.h"

namespace holdfast::cpu {
namespace {

/// a + b with the last bit set where the sum is not exact.
inline __m512 add_to_odd(__m512 a, __m512 b) {
  const __m512 sum = _mm512_add_ps(a, b);
  const __m512 b_part = _mm512_sub_ps(sum, a);
  const __m512 a_part = _mm512_sub_ps(sum, b_part);
  const __m512 error =
      _mm512_add_ps(_mm512_sub_ps(a, a_part), _mm512_sub_ps(b, b_part));
  const __mmask16 inexact =
      _mm512_cmp_ps_mask(error, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  // The error's sign against the sum's: the sum was rounded away from zero.
  const __mmask16 away =
      _mm512_movepi32_mask(_mm512_castps_si512(_mm512_xor_ps(error, sum)));
  __m512i bits = _mm512_castps_si512(sum);
  const __m512i one = _mm512_set1_epi32(1);
  bits = _mm512_mask_sub_epi32(bits, inexact & away, bits, one);
  bits = _mm512_mask_or_epi32(bits, inexact, bits, one);
  return _mm512_castsi512_ps(bits);
}

template <int kBits, bool kOffsets>
class ExpandAvx512 {
 public:
  static constexpr bool kFetches = false;
  static void
  run(const uint8_t* tile, const TileScales& scales, uint16_t* out) {
    __m512i words[kBits];
    for (int w = 0; w < kBits; ++w) {
      words[w] = _mm512_loadu_si512(tile + 64 * w);
    }
    __m512 offset = _mm512_setzero_ps();
    __m512 scale = load(scales, 0, &offset);
    rows<0>(words, scale, offset, out);
    if (scales.scales[1] != scales.scales[0]) {
      scale = load(scales, 1, &offset);
    }
    rows<8>(words, scale, offset, out);
  }

 private:
  static __m512 halves(const uint8_t* from) {
    return _mm512_cvtph_ps(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static __m512 load(const TileScales& scales, int half, __m512* offset) {
    if constexpr (kOffsets) {
      *offset = halves(scales.offsets[half]);
    }
    return halves(scales.scales[half]);
  }

  /// fp16 bits in the low halves of 32-bit lanes.
  [[gnu::always_inline]] static __m512i
  weigh(__m512i code, __m512 scale, __m512 offset) {
    constexpr int kZero = kOffsets ? 0 : 1 << (kBits - 1);
    const __m512 centred = _mm512_cvtepi32_ps(
        kZero == 0 ? code : _mm512_sub_epi32(code, _mm512_set1_epi32(kZero)));
    __m512 value = _mm512_mul_ps(centred, scale); // exact: 19 bits
    if constexpr (kOffsets) {
      value = add_to_odd(value, offset);
    }
    return _mm512_cvtepu16_epi32(
        _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }

  template <int kRow>
  [[gnu::always_inline]] static void
  rows(const __m512i* words, __m512 scale, __m512 offset, uint16_t* out) {
    const __m512i mask = _mm512_set1_epi32((1 << kBits) - 1);
    const __m512i raw = code_row<kBits, kRow>(words);
    const __m512i even = weigh(_mm512_and_si512(raw, mask), scale, offset);
    const __m512i odd = weigh(
        _mm512_and_si512(_mm512_srli_epi32(raw, 16), mask), scale, offset);
    const __m512i h = _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
    _mm512_store_si512(out + 32 * kRow, f16_to_weight(h));
    if constexpr (kRow % 8 != 7) {
      rows<kRow + 1>(words, scale, offset, out);
    }
  }
};

} // namespace
} // namespace holdfast::cpu
