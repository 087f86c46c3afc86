// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One step of a model over a state, from tokens to logits in plain memory.
// Threads: the state's engine thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "mlx/array.h"

#include "holdfast/models/model.h"
#include "holdfast/state/state.h"

namespace holdfast {

/// The next tokens of a row, at least one.
struct RowTokens {
  RowId row;
  std::span<const int32_t> tokens;
  int64_t outputs = 0; // logits wanted of its last so many tokens
};

/// Evaluated logits, [rows, vocab]; a row for each output, in order.
class Logits {
 public:
  Logits() = default;
  explicit Logits(mlx::core::array values) : values_(std::move(values)) {}

  int64_t rows() const {
    return values_ ? values_->shape(0) : 0;
  }
  std::span<const float> row(int64_t index) const;

 private:
  std::optional<mlx::core::array> values_;
};

/// Runs, evaluates and commits one step. Where it throws, no row has changed.
Logits
run_step(const Model& model, State& state, std::span<const RowTokens> rows);

} // namespace holdfast
