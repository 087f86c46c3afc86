// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// y = x W^T with what stands around it in a transformer layer fused in.
//
// Reference form, per row of x:
//   a = norm ? rms_norm(x, norm) : x            rounded to bf16 unless W is f32
//   y_i = scale_i (a W_i^T) + bias_i + added_i for each weight, side by side
//     in the output; scale_i (a W_i^T) is rounded once
//   gate: y = act(y_0) * y_1; kClampedSwiglu: g = min(y_0, 7), u = y_1 within
//     [-7, 7]: y = g sigmoid(1.702 g) (u + 1)
//   post_norm: y = rms_norm(y, post_norm)
//   residual: y = residual + y
//
// Same bits: the order of accumulation over K depends on the weight's shape and
// format only: steps of 32 k, in order, each step two f32 chains of fused
// multiply-adds (even k, odd k) from zero whose sum is added to y; subnormals
// are zero. This is what AMX's TDPBF16PS computes, and the AVX-512 and plain
// forms compute the same. f32 weights: one chain of f32 fused multiply-adds in
// order of k. A row's bits depend neither on other rows nor on the number of
// threads.
//
// Threads: called on one thread; works on the executor's team.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/weight.h"

namespace holdfast::cpu {

/// x * w / sqrt(mean(x^2) + eps). Families that store w - 1 add one on load.
struct RmsNorm {
  const float* weight = nullptr; // [width]; null: no norm
  float eps = 1e-6f;
};

enum class Gate {
  kNone,
  kGeluTanh, // two weights: gelu_tanh(y_0) * y_1
  kSilu, // silu(y_0) * y_1
  kClampedSwiglu, // of gpt-oss
};

struct LinearJob {
  const float* x = nullptr; // [m, k]
  int64_t m = 0;
  RmsNorm norm = {};
  std::span<const Weight* const> weights = {}; // all of the same k
  std::span<const float> scales = {}; // one a weight; none: all 1
  const float* bias = nullptr; // [sum of the weights' n], or null
  const float* added = nullptr; // [m, sum of the weights' n], or null
  Gate gate = Gate::kNone;
  RmsNorm post_norm = {};
  const float* residual = nullptr; // [m, n] or null
  float* y = nullptr; // [m, n], n = sum of the weights' n, or gated that of one
};

/// Throws kInvalidArgument on shapes that do not fit, before y is written.
void linear(const LinearJob& job, Executor& executor, KernelPath path);

} // namespace holdfast::cpu
