// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Fused linear layers by the names of their tensors, for families whose
// checkpoints name them as they are published. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

using LinearPtr = std::shared_ptr<const cpu::LinearLayer>;

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

/// Biases are called ".bias" where matrices are called ".weight".
LinearPtr load_linear(
    const WeightSource& source,
    const std::vector<MatrixName>& matrices,
    LinearSpec spec);

/// Puts into the layer what the source's adapter adds to these matrices, those
/// of the layer; nothing where it adds nothing.
void add_low_rank(
    const WeightSource& source,
    std::span<const MatrixName> matrices,
    cpu::LinearLayer& layer);

/// The bytes of its weights, and of what is added to them.
Bytes weight_bytes(const cpu::LinearLayer& layer);

} // namespace holdfast
