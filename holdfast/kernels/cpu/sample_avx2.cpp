// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/math_avx2-inl.h"
#include "holdfast/kernels/cpu/sample-inl.h"
#include "holdfast/kernels/cpu/sample_forms.h"

namespace holdfast::cpu {

namespace {

int64_t collect(const float* x, int64_t n, float least, int32_t* indices) {
  const __m256 bound = _mm256_set1_ps(least);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += 8) {
    const __m256i valid = Avx2F32::first(n - i);
    const __m256 found = _mm256_and_ps(
        _mm256_cmp_ps(_mm256_maskload_ps(x + i, valid), bound, _CMP_GE_OQ),
        _mm256_castsi256_ps(valid));
    for (int bits = _mm256_movemask_ps(found); bits != 0; bits &= bits - 1) {
      indices[count++] = static_cast<int32_t>(i + __builtin_ctz(bits));
    }
  }
  return count;
}

} // namespace

const SampleForms kSampleAvx2 = {
    maximum<Avx2F32>,
    exp_sum<Avx2F32>,
    weights<Avx2F32>,
    collect};

} // namespace holdfast::cpu
