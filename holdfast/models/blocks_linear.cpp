// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/blocks_linear.h"

#include <utility>

namespace holdfast {

LinearPtr load_linear(
    const WeightSource& source,
    const std::vector<MatrixName>& matrices,
    LinearSpec spec) {
  cpu::LinearLayer layer{
      .weights = {},
      .norm = std::move(spec.norm),
      .post_norm = std::move(spec.post_norm),
      .eps = spec.eps,
      .gate = spec.gate};
  for (const MatrixName& matrix : matrices) {
    if (matrix.name.empty()) {
      layer.weights.push_back(layer.weights.back());
      continue;
    }
    layer.weights.push_back(std::make_shared<const cpu::Weight>(
        source.matrix(matrix.name, matrix.n, spec.k)));
    if (spec.biases) {
      const auto bias = source.vector(bias_name(matrix.name), matrix.n);
      layer.bias.insert(layer.bias.end(), bias.begin(), bias.end());
    }
  }
  add_low_rank(source, matrices, layer);
  return std::make_shared<const cpu::LinearLayer>(std::move(layer));
}

void add_low_rank(
    const WeightSource& source,
    std::span<const MatrixName> matrices,
    cpu::LinearLayer& layer) {
  auto added = source.low_rank(matrices, layer.k());
  if (!added) {
    return;
  }
  added->down.norm = layer.norm;
  added->down.eps = layer.eps;
  layer.down = std::make_shared<const cpu::LinearLayer>(std::move(added->down));
  layer.up = std::make_shared<const cpu::LinearLayer>(std::move(added->up));
}

std::string bias_name(const std::string& weight) {
  return weight.substr(0, weight.rfind(".weight")) + ".bias";
}

std::string layer_tensor(int64_t layer, const char* tensor) {
  return "layers." + std::to_string(layer) + "." + tensor;
}

Bytes weight_bytes(const cpu::LinearLayer& layer) {
  Bytes total;
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    const bool again = i > 0 && layer.weights[i] == layer.weights[i - 1];
    total += again ? Bytes(0) : layer.weights[i]->bytes();
  }
  if (layer.up) {
    total += weight_bytes(*layer.down) + weight_bytes(*layer.up);
  }
  return total;
}

} // namespace holdfast
