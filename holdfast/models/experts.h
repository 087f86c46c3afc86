// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The feed-forward half of a layer with a mixture of experts: a router scores
// them, each row goes through the few of the largest scores. Engine thread.

#pragma once

#include <memory>

#include "mlx/array.h"

#include "holdfast/models/blocks_linear.h"

namespace holdfast {

/// What a family says of its experts.
struct ExpertsShape {
  int64_t count = 0;
  int64_t top = 0; // experts a row
  int64_t ffn = 0;
  cpu::Routing routing = cpu::Routing::kSoftmaxShare;
  bool biases = false; // of the router too
  /// Of a layer, without ".weight": "mlp.gate".
  const char* router = "";
  /// Of stacks [count, n, k], and of one expert a tensor, where a checkpoint
  /// keeps them so: "mlp.switch_mlp", "mlp.experts".
  const char* stacked = "";
  const char* single = "";
};

struct Experts {
  LinearPtr router; // with the norm before it
  std::shared_ptr<const cpu::ExpertsLayer> mix; // null: a dense layer
};

struct ExpertsSpec {
  int64_t layer = 0;
  std::vector<float> norm; // [hidden]
  float eps = 1e-6f;
  cpu::Gate activation = cpu::Gate::kSilu;
};

/// Reads "gate_proj", "up_proj" and "down_proj" of each expert.
Experts load_experts(
    const WeightSource& source,
    const ExpertsShape& shape,
    ExpertsSpec spec);

/// x [T, hidden] -> [T, hidden].
mlx::core::array run_experts(
    const Experts& layer,
    const mlx::core::array& x,
    const cpu::Place& place);

Bytes weight_bytes(const Experts& layer);

} // namespace holdfast
