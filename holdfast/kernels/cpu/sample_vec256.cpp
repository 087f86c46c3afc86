// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/math_vec256-inl.h"
#include "holdfast/kernels/cpu/sample-inl.h"
#include "holdfast/kernels/cpu/sample_forms.h"

namespace holdfast::cpu {

namespace {

/// Bit i: lane i of x is `bound` or more.
unsigned at_least(const Vec256<float>& x, const Vec256<float>& bound) {
  unsigned bits = 0;
  for (int i = 0; i < kParts; ++i) {
    uint8_t some[8]; // as many as Highway may write
    hn::StoreMaskBits(Part<float>(), hn::Ge(x.part[i], bound.part[i]), some);
    bits |= static_cast<unsigned>(some[0]) << (i * kPartLanes<float>);
  }
  return bits;
}

int64_t collect(const float* x, int64_t n, float least, int32_t* indices) {
  const auto bound = all(least);
  int64_t count = 0;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    unsigned bits = at_least(load(x + i), bound);
    for (; bits != 0; bits &= bits - 1) {
      indices[count++] = static_cast<int32_t>(i + __builtin_ctz(bits));
    }
  }
  for (; i < n; ++i) {
    if (x[i] >= least) {
      indices[count++] = static_cast<int32_t>(i);
    }
  }
  return count;
}

} // namespace

const SampleForms kSampleVec256 = {
    maximum<Vec256F32>,
    exp_sum<Vec256F32>,
    weights<Vec256F32>,
    collect};

} // namespace holdfast::cpu
