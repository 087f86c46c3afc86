// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Fused linear layers by the names of their tensors, for families whose
// checkpoints name them as they are published. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

using LinearPtr = std::shared_ptr<const cpu::LinearLayer>;

/// A matrix [n, k] by its name; without one, the matrix before it once more.
/// Its bias has the name with ".bias" for ".weight".
struct MatrixName {
  std::string name;
  int64_t n = 0;
};

/// Matrices side by side over one input, with what is fused around them.
struct LinearSpec {
  int64_t k = 0;
  std::vector<float> norm = {}; // [k] or empty
  std::vector<float> post_norm = {}; // [n] or empty
  float eps = 1e-6f;
  cpu::Gate gate = cpu::Gate::kNone;
  bool biases = false;
};

/// "x.weight" -> "x.bias".
std::string bias_name(const std::string& weight);

/// "layers.<layer>.<tensor>", as published checkpoints have it.
std::string layer_tensor(int64_t layer, const char* tensor);

LinearPtr load_linear(
    const WeightSource& source,
    const std::vector<MatrixName>& matrices,
    LinearSpec spec);

/// The bytes of its weights.
Bytes weight_bytes(const cpu::LinearLayer& layer);

} // namespace holdfast
