// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Append and run in one pass: writes a step's inputs into the open blocks of
// its rows, then runs the causal convolution and the gated delta rule over
// them, and norms and gates the output.
//
// Reference form, per token at position p, value head h of key head g:
//   c = silu(sum_j conv_j raw_(p - taps + 1 + j))   for q, k, v; zero before 0
//   q = c_q / (|c_q| sqrt(Dk)), k = c_k / |c_k|
//   beta = sigmoid(b), decay = exp(-rate softplus(a + bias))
//   S' = decay S + k (beta (v - decay S^T k))^T,  o = S'^T q
//   out = rms_norm(o) * norm * silu(z)
//
// Same bits: the state at a position is a function of the inputs before it,
// step by step in one order (docs/recurrent.md); from which stored state a call
// starts is a matter of time alone. Threads: called on one thread; works on the
// executor's team.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/block/layout.h"
#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/gated_delta.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast::cpu {

/// One layer of one step. Arrays are f32 and row-contiguous.
struct RecurrentJob {
  const GatedDelta* layer = nullptr;
  const ImageLayout* layout = nullptr; // of the layer's group
  int64_t index = 0; // of the layer within its group
  std::span<const RowSpan> rows;
  std::span<const RowBlocks> blocks; // [row], of the layer's group
  const float* inputs = nullptr; // [T, input_width]: q, k, v, z, b, a
  float* out = nullptr; // [T, output_width]
};

/// Throws kInternal where a row lacks the block of the position before it.
void append_and_recur(
    const RecurrentJob& job,
    Executor& executor,
    KernelPath path);

} // namespace holdfast::cpu
