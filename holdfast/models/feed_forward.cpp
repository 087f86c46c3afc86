// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/feed_forward.h"

#include <optional>
#include <utility>

namespace holdfast {

namespace {

/// Gate and up out of the tensor that holds both.
LinearPtr load_fused(const WeightSource& source, FeedForwardSpec& spec) {
  cpu::LinearLayer layer{
      .weights = {},
      .norm = std::move(spec.norm),
      .post_norm = {},
      .eps = spec.eps,
      .gate = spec.activation};
  for (cpu::Weight& weight :
       source.stack(spec.fused, 2, spec.ffn, spec.hidden)) {
    layer.weights.push_back(
        std::make_shared<const cpu::Weight>(std::move(weight)));
  }
  const MatrixName both{spec.fused, 2 * spec.ffn};
  add_low_rank(source, {&both, 1}, layer);
  return std::make_shared<const cpu::LinearLayer>(std::move(layer));
}

LinearPtr load_gate_up(const WeightSource& source, FeedForwardSpec& spec) {
  if (!spec.fused.empty()) {
    return load_fused(source, spec);
  }
  return load_linear(
      source,
      {{spec.gate, spec.ffn}, {spec.up, spec.ffn}},
      {.k = spec.hidden,
       .norm = std::move(spec.norm),
       .eps = spec.eps,
       .gate = spec.activation,
       .biases = spec.biases});
}

} // namespace

FeedForward
load_feed_forward(const WeightSource& source, FeedForwardSpec spec) {
  FeedForward layer;
  layer.gate_up = load_gate_up(source, spec);
  layer.down = load_linear(
      source,
      {{spec.down, spec.hidden}},
      {.k = spec.ffn,
       .post_norm = std::move(spec.post_norm),
       .eps = spec.eps,
       .biases = spec.biases});
  return layer;
}

mlx::core::array run_feed_forward(
    const FeedForward& layer,
    const mlx::core::array& x,
    const cpu::Place& place) {
  const auto gated = cpu::linear(layer.gate_up, x, std::nullopt, place);
  return cpu::linear(layer.down, gated, x, place);
}

Bytes weight_bytes(const FeedForward& layer) {
  return weight_bytes(*layer.gate_up) + weight_bytes(*layer.down);
}

} // namespace holdfast
