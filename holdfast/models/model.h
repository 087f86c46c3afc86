// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A language model: layer specs for its state, and a forward over ragged rows.
// Immutable once built. Threads: the engine thread alone.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mlx/array.h"

#include "holdfast/env/runtime.h"
#include "holdfast/models/weight_source.h"
#include "holdfast/plan/layer_spec.h"
#include "holdfast/state/step.h"

namespace holdfast {

class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelConfig& config() const = 0;
  /// Per layer, what State needs.
  virtual std::vector<LayerSpec> layers() const = 0;
  /// What the packed weights occupy.
  virtual Bytes weight_bytes() const = 0;
  /// The arrays that every forward puts into its graph, the same each time.
  /// Weights that operations hold are none.
  virtual std::vector<mlx::core::array> constants() const {
    return {};
  }

  /// Runs a step's tokens [T] through all layers. Returns logits [R, vocab] f32
  /// of the tokens whose indices into [0, T) are given in `outputs`, or nothing
  /// where `outputs` is empty (a prefill chunk). The result is lazy: evaluated
  /// by the caller or by step.commit(). A long chunk's layers may be evaluated
  /// here, one by one, so that one layer's activations are held at a time.
  virtual std::optional<mlx::core::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const = 0;
};

/// Builds the family that `source.config().family` names.
/// Throws kUnsupported listing the families known.
std::unique_ptr<Model> make_model(const WeightSource& source, Runtime runtime);

} // namespace holdfast
