// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/output_layer.h"

#include <utility>

#include "mlx/ops.h"

#include "holdfast/models/blocks.h"

namespace holdfast {

namespace mx = mlx::core;

LinearPtr load_output(
    const WeightSource& source,
    const std::shared_ptr<const cpu::Weight>& table,
    const std::string& matrix,
    std::vector<float> norm) {
  const ModelConfig& config = source.config();
  const cpu::Weight weight = matrix.empty()
      ? *table
      : source.matrix(matrix, config.vocab, config.hidden);
  return std::make_shared<const cpu::LinearLayer>(cpu::LinearLayer{
      .weights = {std::make_shared<const cpu::Weight>(weight.exact())},
      .norm = std::move(norm),
      .post_norm = {},
      .eps = static_cast<float>(config.norm_eps)});
}

std::optional<mx::array> logits_of(
    const LinearPtr& output,
    const mx::array& x,
    std::span<const int32_t> rows,
    const cpu::Place& place) {
  if (rows.empty()) {
    return std::nullopt;
  }
  return cpu::linear(output, take_rows(x, rows, place), std::nullopt, place);
}

std::optional<mx::array> cap_of(float cap) {
  return cap == 0.0f ? std::nullopt : std::optional(mx::array(cap));
}

std::optional<mx::array> soft_capped(
    std::optional<mx::array> logits,
    const std::optional<mx::array>& cap,
    const cpu::Place& place) {
  if (!logits || !cap) {
    return logits;
  }
  const auto s = place.stream;
  return mx::multiply(
      cpu::activate(
          cpu::Activation::kTanh, mx::divide(*logits, *cap, s), place),
      *cap,
      s);
}

Bytes weight_bytes(const cpu::Weight& table, const cpu::LinearLayer& output) {
  const bool tied = output.weights[0]->data() == table.data();
  return table.bytes() + (tied ? Bytes(0) : weight_bytes(output));
}

} // namespace holdfast
