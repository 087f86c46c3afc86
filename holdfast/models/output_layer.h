// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The output layer of a model: a norm, then a logit a vocabulary entry. Its
// matrix may be the embedding table's. Engine thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mlx/array.h"

#include "holdfast/models/blocks_linear.h"

namespace holdfast {

/// matrix: its name, or "" where it is the table. norm: [hidden]. Codes of 8
/// bits make exact products: here their rounding shows most.
LinearPtr load_output(
    const WeightSource& source,
    const std::shared_ptr<const cpu::Weight>& table,
    const std::string& matrix,
    std::vector<float> norm);

/// Logits [R, vocabulary] of the given rows of x [T, hidden], each in [0, T);
/// none for none. Throws kInvalidArgument.
std::optional<mlx::core::array> logits_of(
    const LinearPtr& output,
    const mlx::core::array& x,
    std::span<const int32_t> rows,
    const cpu::Place& place);

/// A cap for soft_capped(): none for 0.
std::optional<mlx::core::array> cap_of(float cap);
/// cap * tanh(logits / cap); themselves where there are none or no cap.
std::optional<mlx::core::array> soft_capped(
    std::optional<mlx::core::array> logits,
    const std::optional<mlx::core::array>& cap,
    const cpu::Place& place);

/// The bytes of the table and the output, once where they are one.
Bytes weight_bytes(const cpu::Weight& table, const cpu::LinearLayer& output);

/// And those of all layers.
template <class Layers>
Bytes weight_bytes(
    const cpu::Weight& table,
    const cpu::LinearLayer& output,
    const Layers& layers) {
  Bytes total = weight_bytes(table, output);
  for (const auto& layer : layers) {
    total += weight_bytes(layer);
  }
  return total;
}

} // namespace holdfast
