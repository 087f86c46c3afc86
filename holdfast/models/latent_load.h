// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a deepseek-v2 checkpoint says: its shape out of the settings, and its
// attention layer by layer in the order that the forward wants. Engine thread.

#pragma once

#include <memory>
#include <vector>

#include "holdfast/models/feed_forward.h"

namespace holdfast {

/// Of the norms inside attention, whatever the settings say of the others.
inline constexpr float kLatentInnerEps = 1e-6f;

struct LatentShape {
  int64_t heads = 0;
  int64_t rank = 0; // of the latent
  int64_t query_rank = 0; // 0: queries come straight from the input
  int64_t plain = 0; // elements of a query head without a position
  int64_t turned = 0; // elements with one
  int64_t value = 0; // of a head's value
  cpu::Rope rope;
};

/// Throws kUnsupported naming a setting that asks for what is not here.
LatentShape latent_shape(const Settings& settings, const ModelConfig& config);

struct LatentLayer {
  LinearPtr query_down; // null where query_rank is 0
  LinearPtr query; // [all heads' plain | all heads' turned]
  LinearPtr kv; // [turned key | latent]
  std::shared_ptr<const cpu::HeadsLayer> heads; // queries and the key
  std::shared_ptr<const std::vector<float>> latent_norm;
  std::shared_ptr<const std::vector<cpu::Weight>> to_latent; // [rank, plain]
  std::shared_ptr<const std::vector<cpu::Weight>> from_latent; // [value, rank]
  LinearPtr output;
  FeedForward feed_forward;
};

LatentLayer load_latent_layer(
    const WeightSource& source,
    const LatentShape& shape,
    int64_t index,
    Executor& executor);

/// The bytes of all weights of a layer.
Bytes weight_bytes(const LatentLayer& layer);

} // namespace holdfast
