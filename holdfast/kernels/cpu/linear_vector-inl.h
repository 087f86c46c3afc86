// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the AVX-512 and AMX forms of the linear kernels share around their
// tiles. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/intrinsics.h"
#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

struct VectorArch {
  using V = Avx512F32;

  /// Round to nearest even; NaN stays NaN.
  static void store_bf16(V value, uint16_t* out) {
    const __m512i bits = _mm512_castps_si512(value.v);
    const __m512i high = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    __m512i rounded = _mm512_srli_epi32(
        _mm512_add_epi32(
            bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))),
        16);
    const __mmask16 nan = _mm512_cmp_ps_mask(value.v, value.v, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, high, _mm512_set1_epi32(0x40));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(out), _mm512_cvtepi32_epi16(rounded));
  }

  /// To L2: more lines may be on their way there than to L1. Inlined early:
  /// g++ 12 drops calls of a function that only prefetches.
  template <int kLines>
  [[gnu::always_inline]] static void prefetch(const uint8_t* at) {
#pragma GCC unroll 64
    for (int i = 0; i < kLines; ++i) {
      _mm_prefetch(reinterpret_cast<const char*>(at + 64 * i), _MM_HINT_T1);
    }
  }
};

} // namespace
} // namespace holdfast::cpu
