// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A recurrent layer's step as one MLX operation: appends the inputs to the
// rows' open blocks and runs the layer over them.
//
// Threads: the engine thread. docs/recurrent.md.

#pragma once

#include <memory>

#include "mlx/array.h"
#include "mlx/stream.h"

#include "holdfast/env/runtime.h"
#include "holdfast/kernels/cpu/gated_delta.h"
#include "holdfast/kernels/cpu/layer_task.h"
#include "holdfast/plan/recurrent_spec.h"

namespace holdfast {

/// Persisted in the signature.
inline constexpr const char* kRecurrentRead = "recurrent.1";

/// One layer's part of a state. Lives as long as the state.
struct RecurrentLayer {
  RecurrentSpec spec;
  ImageLayout layout; // of its group's images
  int64_t layer = 0; // in the model
  int64_t group = 0;
  int64_t layer_in_group = 0;
  Runtime runtime;
};

/// inputs [T, input_width] f32 -> [T, output_width] f32, lazily. Throws
/// kInvalidArgument on another shape or weights of another spec.
mlx::core::array recur(
    const std::shared_ptr<const RecurrentLayer>& layer,
    const cpu::StepHandle& step,
    const std::shared_ptr<const cpu::GatedDelta>& weights,
    const mlx::core::array& inputs,
    mlx::core::Stream stream);

} // namespace holdfast
