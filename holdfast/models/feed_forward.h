// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The gated feed-forward half of a layer: x + down(act(gate(x)) * up(x)), with
// a norm before it and, in some families, one after it. Engine thread.

#pragma once

#include <string>
#include <vector>

#include "mlx/array.h"

#include "holdfast/models/blocks_linear.h"

namespace holdfast {

struct FeedForward {
  LinearPtr gate_up; // side by side, gated
  LinearPtr down;
};

/// The full names of its matrices, and what stands around them.
struct FeedForwardSpec {
  std::string gate;
  std::string up;
  std::string down;
  std::string fused = ""; // instead of gate and up: both, [2 ffn, hidden]
  int64_t hidden = 0;
  int64_t ffn = 0;
  std::vector<float> norm; // [hidden]
  std::vector<float> post_norm = {}; // [hidden] or empty
  float eps = 1e-6f;
  cpu::Gate activation = cpu::Gate::kSilu;
  bool biases = false; // not beside `fused`
};

FeedForward load_feed_forward(const WeightSource& source, FeedForwardSpec spec);

/// x [T, hidden] -> [T, hidden].
mlx::core::array run_feed_forward(
    const FeedForward& layer,
    const mlx::core::array& x,
    const cpu::Place& place);

Bytes weight_bytes(const FeedForward& layer);

} // namespace holdfast
