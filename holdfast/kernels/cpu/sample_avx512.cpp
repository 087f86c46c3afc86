// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "holdfast/kernels/cpu/sample-inl.h"
#include "holdfast/kernels/cpu/sample_forms.h"

namespace holdfast::cpu {

namespace {

int64_t collect(const float* x, int64_t n, float least, int32_t* indices) {
  const __m512 bound = _mm512_set1_ps(least);
  __m512i at =
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto valid = static_cast<__mmask16>(
        n - i >= kLanes ? 0xffffu : (1u << (n - i)) - 1u);
    const __mmask16 found = _mm512_mask_cmp_ps_mask(
        valid, _mm512_maskz_loadu_ps(valid, x + i), bound, _CMP_GE_OQ);
    if (found != 0) {
      _mm512_mask_compressstoreu_epi32(indices + count, found, at);
      count += __builtin_popcount(found);
    }
    at = _mm512_add_epi32(at, _mm512_set1_epi32(kLanes));
  }
  return count;
}

} // namespace

const SampleForms kSampleAvx512 = {
    maximum<Avx512F32>,
    exp_sum<Avx512F32>,
    weights<Avx512F32>,
    collect};

} // namespace holdfast::cpu
