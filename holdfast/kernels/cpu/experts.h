// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A mixture of experts: each row goes through the few gated feed-forward
// experts that a router's scores choose for it.
//
// Reference form, per row of x:
//   a = norm ? rms_norm(x, norm) : x
//   the `top` experts of the largest scores; of equal ones the first
//   y = x, then for each of these e, in ascending order:
//     y = y + w_e * ((act(a G_e^T + b) * (a U_e^T + b)) D_e^T + b)
//
// Rows are gathered by expert: the weights of each are read once for all (for
// each 512 rows of a longer job); products of all experts are one list of items
// (linear_batch.h). Same bits: linear.h's, then a row's own order: they do not
// depend on which rows share its experts, on threads or path.
//
// Threads: called on one thread; works on the executor's team.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/kernels/cpu/linear.h"

namespace holdfast::cpu {

/// w_e of the chosen experts.
enum class Routing {
  kSoftmax, // the softmax of all scores
  kSoftmaxShare, // the same, divided by its sum over the chosen
  kSoftmaxOfTop, // the softmax of the chosen scores alone
};

struct Expert {
  Weight gate; // [ffn, k]
  Weight up; // [ffn, k]
  Weight down; // [k, ffn]
  std::vector<float> gate_up_bias = {}; // [2 ffn] or empty
  std::vector<float> down_bias = {}; // [k] or empty
};

struct ExpertsJob {
  const float* x = nullptr; // [m, k]
  const float* scores = nullptr; // [m, experts]
  int64_t m = 0;
  RmsNorm norm = {};
  std::span<const Expert> experts = {}; // of one shape
  Gate gate = Gate::kSilu;
  int64_t top = 1; // experts a row
  Routing routing = Routing::kSoftmax;
  float* y = nullptr; // [m, k], not x
};

/// Throws kInvalidArgument on shapes that do not fit, before y is written.
void mix_experts(const ExpertsJob& job, Executor& executor, KernelPath path);

} // namespace holdfast::cpu
