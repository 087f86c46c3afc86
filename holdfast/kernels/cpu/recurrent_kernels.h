// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the recurrent driver asks of an instruction set: a table of functions,
// the same for each path and equal in bits. Threads: any.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

/// Causal convolution of `count` channels at one position.
struct ConvolveJob {
  const float* x = nullptr; // [taps] rows of `stride`, the oldest first
  const float* w = nullptr; // likewise
  int64_t stride = 0;
  int64_t taps = 0;
  int64_t count = 0;
  float* y = nullptr; // [count]: silu(sum_j w_j x_j)
};

/// y = rms_norm(x) * norm * silu(z).
struct GateJob {
  const float* x = nullptr; // [dim]
  const float* norm = nullptr;
  const float* z = nullptr;
  int64_t dim = 0;
  float eps = 0.0f;
  float* y = nullptr;
};

/// One strip of a value head's state over tokens in order.
struct DeltaRun {
  int64_t key_dim = 0;
  int64_t vectors = 0; // columns / 16, 1 to 4
  int64_t tokens = 0; // >= 1
  /// Strips: before the first token; where it is worked on; after the last
  /// token (null: not wanted; may be `from`).
  const float* from = nullptr;
  float* work = nullptr;
  float* to = nullptr;
  /// [tokens] vectors, `stride` floats apart: normed q and k [key_dim], v at
  /// the strip's first column.
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  int64_t stride = 0;
  const float* decay = nullptr; // [tokens]
  const float* beta = nullptr;
  const float* kq = nullptr; // k . q
  int64_t first_out = 0; // tokens before it give no output
  float* out = nullptr; // of that token, at the strip's first column
  int64_t out_stride = 0;
};

struct RecurrentKernels {
  void (*convolve)(const ConvolveJob& job);
  /// x *= factor / sqrt(mean(x^2) + eps), [dim].
  void (*normalise)(float* x, int64_t dim, float eps, float factor);
  /// 16 strided lanes, then the fixed tree.
  float (*dot)(const float* a, const float* b, int64_t dim);
  void (*gate)(const GateJob& job);
  void (*run)(const DeltaRun& run);
};

const RecurrentKernels& recurrent_kernels_plain();
/// Only where kAvx2 or kNeon runs.
const RecurrentKernels& recurrent_kernels_vec256();
/// Only where the processor is x86-64.
const RecurrentKernels& recurrent_kernels_avx512();

} // namespace holdfast::cpu
