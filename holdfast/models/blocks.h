// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What decoder families share: loading of a layer's fused weights, and the
// attention and feed-forward halves as six primitives. Immutable; engine
// thread.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mlx/array.h"

#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/models/experts.h"
#include "holdfast/models/feed_forward.h"
#include "holdfast/models/weight_source.h"
#include "holdfast/state/step.h"

namespace holdfast {

/// One decoder layer: x += attention(x), then x += feed_forward(x), each with a
/// norm before it and, in some families, one after it.
struct DecoderLayer {
  LinearPtr qkv;
  std::shared_ptr<const cpu::HeadsLayer> heads;
  LinearPtr output; // of attention
  FeedForward feed_forward; // null where the layer has experts
  Experts experts;
};

/// The names under which a layer's norms are stored; "" where a family has
/// none.
struct LayerNorms {
  std::string attention = "attn_norm";
  std::string query = "";
  std::string key = "";
  std::string post_attention = "";
  std::string feed_forward = "ffn_norm";
  std::string post_feed_forward = "";
};

/// Reads layer `index` ("blk.<index>.*").
DecoderLayer load_decoder_layer(
    const WeightSource& source,
    int64_t index,
    const LayerNorms& norms,
    cpu::Gate gate,
    const cpu::Rope& rope);

/// x [T, hidden] -> [T, hidden].
mlx::core::array run_decoder_layer(
    const DecoderLayer& layer,
    LayerIndex index,
    const mlx::core::array& x,
    Step& step,
    const cpu::Place& place);

/// The embeddings of a step's tokens, scaled: [T, hidden]. Throws
/// kInvalidArgument unless there are as many as the step has.
mlx::core::array embed_tokens(
    const std::shared_ptr<const cpu::Weight>& table,
    std::span<const int32_t> tokens,
    float scale,
    const Step& step,
    const cpu::Place& place);

/// Between layers: evaluates x where the step is long. MLX allocates the
/// outputs of a graph ahead of its tasks, so the activations of all layers
/// would be held at once.
void evaluate_long_chunk(const Step& step, const mlx::core::array& x);

/// The given rows of x [T, n], each in [0, T): [R, n]. Throws kInvalidArgument.
mlx::core::array take_rows(
    const mlx::core::array& x,
    std::span<const int32_t> rows,
    const cpu::Place& place);

/// The bytes of all weights of a layer.
Bytes weight_bytes(const DecoderLayer& layer);

} // namespace holdfast
