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
  cpu::LinearLayer layer{
      .weights = {std::make_shared<const cpu::Weight>(weight.exact())},
      .norm = std::move(norm),
      .post_norm = {},
      .eps = static_cast<float>(config.norm_eps)};
  // An adapter of the output leaves a table that is the same matrix as it is.
  const MatrixName output{
      matrix.empty() ? "lm_head.weight" : matrix, config.vocab};
  add_low_rank(source, {&output, 1}, layer);
  return std::make_shared<const cpu::LinearLayer>(std::move(layer));
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
  const Bytes all = table.bytes() + weight_bytes(output);
  return tied ? all - table.bytes() : all;
}

} // namespace holdfast
