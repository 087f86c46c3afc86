// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a gemma4 checkpoint says: its shape out of the settings, and its weights
// layer by layer. Values; engine thread.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "holdfast/models/feed_forward.h"
#include "holdfast/plan/layer_spec.h"

namespace holdfast {

/// One layer as the settings describe it.
struct Gemma4LayerShape {
  bool sliding = false;
  int64_t head_dim = 0;
  int64_t kv_heads = 0;
  bool keys_are_values = false; // values are the keys before norm and rope
  int64_t ffn = 0;
  cpu::Rope rope;
  std::optional<LayerIndex> donor;
};

struct Gemma4Shape {
  std::vector<Gemma4LayerShape> layers;
  int64_t stored = 0; // the layers before those with donors
  int64_t extra = 0; // width of a layer's own embedding; 0: none
  int64_t extra_vocab = 0;
  float softcap = 0.0f; // of the logits; 0: none
  bool tied = true;
};

/// Throws kUnsupported naming a setting that asks for what is not here,
/// kCorrupt for one that is wrong.
Gemma4Shape gemma4_shape(const Settings& settings, const ModelConfig& config);

struct Gemma4Layer {
  LinearPtr qkv; // of a layer with a donor: q alone
  std::shared_ptr<const cpu::HeadsLayer> heads;
  LinearPtr output;
  FeedForward feed_forward;
  LinearPtr extra_gate; // null where layers have no embedding of their own
  LinearPtr extra_output;
  float scalar = 1.0f; // multiplies what leaves the layer
};

Gemma4Layer load_gemma4_layer(
    const WeightSource& source,
    const Gemma4Shape& shape,
    int64_t index);

/// The bytes of all weights of a layer.
Bytes weight_bytes(const Gemma4Layer& layer);

} // namespace holdfast
