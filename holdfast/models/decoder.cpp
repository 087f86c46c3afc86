// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/decoder.h"

#include <utility>

#include "holdfast/models/blocks.h"
#include "holdfast/models/decoder_load.h"
#include "holdfast/models/output_layer.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class Decoder : public Model {
 public:
  Decoder(const WeightSource& source, Runtime runtime, DecoderShape shape)
      : config_(source.config()),
        shape_(std::move(shape)),
        runtime_(std::move(runtime)),
        cap_(cap_of(shape_.logit_softcap)) {
    config_.rope_base = shape_.rope.base;
    config_.rope_scale = shape_.rope.scale;
    if (shape_.local_rope) {
      config_.rope_base_local = shape_.local_rope->base;
    }
    table_ = std::make_shared<const cpu::Weight>(
        source.matrix("embed_tokens.weight", config_.vocab, config_.hidden));
    for (int64_t i = 0; i < config_.layers; ++i) {
      layers_.push_back(load_decoder_layer(source, shape_, i));
      sinks_.push_back(
          shape_.sinks
              ? source.vector(
                    layer_tensor(i, "self_attn.sinks"), config_.query_heads)
              : std::vector<float>());
    }
    output_ = load_output(
        source,
        table_,
        shape_.tied ? "" : "lm_head.weight",
        load_norm(source, shape_, "norm.weight", config_.hidden));
  }

  const ModelConfig& config() const override {
    return config_;
  }

  std::vector<LayerSpec> layers() const override {
    std::vector<LayerSpec> specs;
    for (size_t i = 0; i < layers_.size(); ++i) {
      specs.emplace_back(AttentionSpec{
          .query_heads = config_.query_heads,
          .kv_heads = config_.kv_heads,
          .key_dim = config_.head_dim,
          .value_dim = config_.head_dim,
          .scale = shape_.scale,
          .softcap = shape_.softcap,
          .visibility = {.window = shape_.windows[i]},
          .sink_logits = sinks_[i]});
    }
    return specs;
  }

  Bytes weight_bytes() const override {
    return holdfast::weight_bytes(*table_, *output_, layers_);
  }

  std::vector<mx::array> constants() const override {
    return cap_ ? std::vector{*cap_} : std::vector<mx::array>();
  }

  std::optional<mx::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override {
    const cpu::Place place{runtime_, step.stream()};
    auto x = embed_tokens(table_, tokens, shape_.embedding_scale, step, place);
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) {
        evaluate_long_chunk(step, x);
      }
      x = run_decoder_layer(
          layers_[i], LayerIndex(static_cast<int64_t>(i)), x, step, place);
    }
    return soft_capped(logits_of(output_, x, outputs, place), cap_, place);
  }

 private:
  ModelConfig config_;
  const DecoderShape shape_;
  const Runtime runtime_;
  const std::optional<mx::array> cap_; // of the logits
  std::shared_ptr<const cpu::Weight> table_;
  std::vector<DecoderLayer> layers_;
  std::vector<std::vector<float>> sinks_; // [layer]
  LinearPtr output_;
};

} // namespace

std::unique_ptr<Model>
make_decoder(const WeightSource& source, Runtime runtime, DecoderShape shape) {
  return std::make_unique<Decoder>(
      source, std::move(runtime), std::move(shape));
}

} // namespace holdfast
