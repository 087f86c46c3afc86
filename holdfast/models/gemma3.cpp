// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma3.h"

#include <cmath>
#include <string>
#include <utility>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/models/blocks.h"
#include "holdfast/models/output_layer.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

// What a gemma3 file may leave out: every sixth layer is full, and sliding
// layers rotate with base 10 000.
constexpr int64_t kPattern = 6;
constexpr double kLocalRopeBase = 10000.0;
// Scores are scaled by 1 / sqrt(head size), in the family's largest model (27B,
// told by its layers) by 1 / sqrt(hidden / query heads). No file says so.
constexpr int64_t kLayersOfLargest = 62;

ModelConfig complete(ModelConfig config) {
  if (config.rope_base_local == 0) {
    config.rope_base_local = kLocalRopeBase;
  }
  if (config.rope_base == 0) {
    config.rope_base = 1e6;
  }
  if (config.rope_scale == 0) {
    config.rope_scale = 1.0;
  }
  if (config.window < 1) {
    throw Error(
        ErrorCode::kUnsupported,
        "[gemma3] expected a sliding window of at least 1, got " +
            std::to_string(config.window));
  }
  return config;
}

bool is_sliding(int64_t layer) {
  return (layer + 1) % kPattern != 0;
}

class Gemma3 : public Model {
 public:
  Gemma3(const WeightSource& source, Runtime runtime)
      : config_(complete(source.config())), runtime_(std::move(runtime)) {
    table_ = std::make_shared<const cpu::Weight>(
        source.matrix("token_embd.weight", config_.vocab, config_.hidden));
    for (int64_t i = 0; i < config_.layers; ++i) {
      layers_.push_back(load_layer(source, i));
    }
    output_ = load_output(
        source,
        table_,
        source.has("output.weight") ? "output.weight" : "",
        source.vector("output_norm.weight", config_.hidden));
  }

  const ModelConfig& config() const override {
    return config_;
  }

  std::vector<LayerSpec> layers() const override {
    const int64_t width = config_.layers == kLayersOfLargest
        ? config_.hidden / config_.query_heads
        : config_.head_dim;
    std::vector<LayerSpec> specs;
    for (int64_t i = 0; i < config_.layers; ++i) {
      specs.push_back(AttentionSpec{
          .query_heads = config_.query_heads,
          .kv_heads = config_.kv_heads,
          .key_dim = config_.head_dim,
          .value_dim = config_.head_dim,
          .scale = 1.0f / std::sqrt(static_cast<float>(width)),
          .softcap = 0.0f,
          .visibility = {.window = is_sliding(i) ? config_.window : 0},
          .sink_logits = {}});
    }
    return specs;
  }

  Bytes weight_bytes() const override {
    return holdfast::weight_bytes(*table_, *output_, layers_);
  }

  std::optional<mx::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override {
    const cpu::Place place{runtime_, step.stream()};
    // The family rounds this factor to bf16, as it was trained.
    const float scale =
        bf16_to_f32(f32_to_bf16(std::sqrt(static_cast<float>(config_.hidden))));
    auto x = embed_tokens(table_, tokens, scale, step, place);
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) {
        evaluate_long_chunk(step, x);
      }
      x = run_decoder_layer(
          layers_[i], LayerIndex(static_cast<int64_t>(i)), x, step, place);
    }
    return logits_of(output_, x, outputs, place);
  }

 private:
  DecoderLayer load_layer(const WeightSource& source, int64_t index) const {
    const bool sliding = is_sliding(index);
    const cpu::Rope rope{
        .dims = config_.head_dim,
        .base = static_cast<float>(
            sliding ? config_.rope_base_local : config_.rope_base),
        .scale = sliding ? 1.0f : static_cast<float>(config_.rope_scale)};
    return load_decoder_layer(
        source,
        index,
        {.query = "attn_q_norm",
         .key = "attn_k_norm",
         .post_attention = "post_attention_norm",
         .post_feed_forward = "post_ffw_norm"},
        cpu::Gate::kGeluTanh,
        rope);
  }

  const ModelConfig config_;
  const Runtime runtime_;
  std::shared_ptr<const cpu::Weight> table_;
  std::vector<DecoderLayer> layers_;
  LinearPtr output_;
};

} // namespace

std::unique_ptr<Model>
make_gemma3(const WeightSource& source, Runtime runtime) {
  return std::make_unique<Gemma3>(source, std::move(runtime));
}

} // namespace holdfast
