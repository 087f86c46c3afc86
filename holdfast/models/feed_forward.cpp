// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/feed_forward.h"

#include <optional>
#include <utility>

namespace holdfast {

FeedForward
load_feed_forward(const WeightSource& source, FeedForwardSpec spec) {
  FeedForward layer;
  layer.gate_up = load_linear(
      source,
      {{spec.gate, spec.ffn}, {spec.up, spec.ffn}},
      {.k = spec.hidden,
       .norm = std::move(spec.norm),
       .eps = spec.eps,
       .gate = spec.activation});
  layer.down = load_linear(
      source,
      {{spec.down, spec.hidden}},
      {.k = spec.ffn, .post_norm = std::move(spec.post_norm), .eps = spec.eps});
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
