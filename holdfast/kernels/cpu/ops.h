// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The CPU kernels as MLX operations: each builds one lazy primitive whose task
// runs on the stream's thread and works on the runtime's team. All float arrays
// are f32 and row-contiguous.
//
// Threads: the engine thread. Errors: shapes are refused when the operation is
// built, naming what was expected; strided inputs when it is evaluated.

#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

#include "holdfast/env/runtime.h"
#include "holdfast/kernels/cpu/elementwise.h"
#include "holdfast/kernels/cpu/experts.h"
#include "holdfast/kernels/cpu/linear.h"
#include "holdfast/kernels/cpu/weight.h"

namespace holdfast::cpu {

/// The norm that a layer holds; none where it is empty. `weight` outlives it.
inline RmsNorm norm_of(const std::vector<float>& weight, float eps) {
  return {.weight = weight.empty() ? nullptr : weight.data(), .eps = eps};
}

/// Linear weights with what is fused around them; see linear.h. Immutable.
struct LinearLayer {
  std::vector<std::shared_ptr<const Weight>> weights;
  std::vector<float> norm; // [k] or empty
  std::vector<float> post_norm; // [n] or empty
  std::vector<float> scales = {}; // [weights] or empty
  std::vector<float> bias = {}; // [sum of the weights' n] or empty
  float eps = 1e-6f;
  Gate gate = Gate::kNone;
  /// up(down(x)) is added to the products, before the gate; both or neither.
  /// down: of the same x, with the same norm; up: [sum of the weights' n].
  std::shared_ptr<const LinearLayer> down = nullptr;
  std::shared_ptr<const LinearLayer> up = nullptr;

  /// Columns of the products, all weights side by side.
  int64_t columns() const;
  /// Columns of the output.
  int64_t n() const;
  int64_t k() const;
};

/// Where an operation runs.
struct Place {
  Runtime runtime;
  mlx::core::Stream stream;
};

/// x [M, k], or [M, heads, k / heads], residual [M, n] or none -> [M, n].
mlx::core::array linear(
    const std::shared_ptr<const LinearLayer>& layer,
    const mlx::core::array& x,
    const std::optional<mlx::core::array>& residual,
    const Place& place);

/// The heads of an attention layer.
struct HeadsLayer {
  int64_t query_heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  std::vector<float> query_norm; // [head_dim] or empty
  std::vector<float> key_norm;
  std::vector<float> value_norm = {};
  float eps = 1e-6f;
  Rope rope;
  bool gated = false; // each query head is followed by its gate

  /// Columns of the projection.
  int64_t width() const {
    return (query_heads * (gated ? 2 : 1) + 2 * kv_heads) * head_dim;
  }
};

/// qkv [T, width], positions [T] int32 -> q [T, Hq, D], k and v
/// [T, Hkv, D].
std::array<mlx::core::array, 3> split_heads(
    const std::shared_ptr<const HeadsLayer>& layer,
    const mlx::core::array& qkv,
    const mlx::core::array& positions,
    const Place& place);

/// The same for a layer without key-value heads: q [T, Hq, D].
mlx::core::array split_queries(
    const std::shared_ptr<const HeadsLayer>& layer,
    const mlx::core::array& q,
    const mlx::core::array& positions,
    const Place& place);

/// x [T, Hq, D], qkv [T, width] of a layer with gated queries -> [T, Hq * D]: x
/// * sigmoid(gate).
mlx::core::array gate_heads(
    const std::shared_ptr<const HeadsLayer>& layer,
    const mlx::core::array& x,
    const mlx::core::array& qkv,
    const Place& place);

/// Each head by its own matrix [n, k]: x [T, H, k] -> [T, H, n]. All matrices
/// of one shape.
mlx::core::array heads_linear(
    const std::shared_ptr<const std::vector<Weight>>& heads,
    const mlx::core::array& x,
    const Place& place);

/// Experts with what stands around them; see experts.h. Immutable.
struct ExpertsLayer {
  std::vector<Expert> experts;
  std::vector<float> norm; // [k] or empty
  float eps = 1e-6f;
  Gate gate = Gate::kSilu;
  int64_t top = 1;
  Routing routing = Routing::kSoftmax;
};

/// x [M, k], a router's scores [M, experts] -> x + the experts' [M, k].
mlx::core::array mix_experts(
    const std::shared_ptr<const ExpertsLayer>& layer,
    const mlx::core::array& x,
    const mlx::core::array& scores,
    const Place& place);

/// function(x), any shape.
mlx::core::array
activate(Activation function, const mlx::core::array& x, const Place& place);

/// RMS norm over the last dimension. norm: [that size].
mlx::core::array normalise(
    const std::shared_ptr<const std::vector<float>>& norm,
    float eps,
    const mlx::core::array& x,
    const Place& place);

/// ids [T] int32 -> [T, table.k()], scaled.
mlx::core::array embed(
    const std::shared_ptr<const Weight>& table,
    const mlx::core::array& ids,
    float scale,
    const Place& place);

} // namespace holdfast::cpu
