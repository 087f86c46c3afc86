// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The forms of sample.h's passes, one table an instruction set. Immutable; any
// thread.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

struct SampleForms {
  /// One block of n <= kSampleBlock logits.
  float (*maximum)(const float* x, int64_t n);
  float (*exp_sum)(const float* x, int64_t n, float max, float scale);
  /// Any n.
  void (*weights)(const float* x, int64_t n, float max, float scale, float* y);
  int64_t (*collect)(const float* x, int64_t n, float least, int32_t* indices);
};

extern const SampleForms kSamplePlain;
extern const SampleForms kSampleVec256;
extern const SampleForms kSampleAvx512;

} // namespace holdfast::cpu
