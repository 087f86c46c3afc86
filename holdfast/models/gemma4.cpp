// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma4.h"

#include <cmath>
#include <utility>

#include "mlx/ops.h"

#include "holdfast/models/blocks.h"
#include "holdfast/models/gemma4_load.h"
#include "holdfast/models/output_layer.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class Gemma4 : public Model {
 public:
  Gemma4(const WeightSource& source, Runtime runtime)
      : config_(source.config()),
        shape_(gemma4_shape(source.settings(), config_)),
        runtime_(std::move(runtime)),
        cap_(cap_of(shape_.softcap)),
        projection_scale_(1.0f / std::sqrt(static_cast<float>(config_.hidden))),
        extra_scale_(std::sqrt(0.5f)) {
    const auto matrix = [&](const char* name, int64_t n, int64_t k) {
      return std::make_shared<const cpu::Weight>(source.matrix(name, n, k));
    };
    table_ = matrix("embed_tokens.weight", config_.vocab, config_.hidden);
    if (shape_.extra > 0) {
      const int64_t width = config_.layers * shape_.extra;
      extra_table_ =
          matrix("embed_tokens_per_layer.weight", shape_.extra_vocab, width);
      extra_projection_ = load_linear(
          source,
          {{"per_layer_model_projection.weight", width}},
          {.k = config_.hidden});
      extra_norm_ = std::make_shared<const std::vector<float>>(
          source.vector("per_layer_projection_norm.weight", shape_.extra));
    }
    for (int64_t i = 0; i < config_.layers; ++i) {
      layers_.push_back(load_gemma4_layer(source, shape_, i));
      scalars_.emplace_back(layers_.back().scalar);
    }
    output_ = load_output(
        source,
        table_,
        shape_.tied ? "" : "lm_head.weight",
        source.vector("norm.weight", config_.hidden));
  }

  const ModelConfig& config() const override {
    return config_;
  }

  std::vector<LayerSpec> layers() const override {
    std::vector<LayerSpec> specs;
    for (const Gemma4LayerShape& layer : shape_.layers) {
      specs.emplace_back(AttentionSpec{
          .query_heads = config_.query_heads,
          .kv_heads = layer.kv_heads,
          .key_dim = layer.head_dim,
          .value_dim = layer.head_dim,
          .scale = 1.0f, // norms of queries and keys take its place
          .visibility = {.window = layer.sliding ? config_.window : 0},
          .donor = layer.donor});
    }
    return specs;
  }

  Bytes weight_bytes() const override {
    Bytes total = holdfast::weight_bytes(*table_, *output_, layers_);
    if (shape_.extra > 0) {
      total += extra_table_->bytes();
      total += holdfast::weight_bytes(*extra_projection_);
    }
    return total;
  }

  std::vector<mx::array> constants() const override {
    std::vector<mx::array> all = scalars_;
    all.push_back(projection_scale_);
    all.push_back(extra_scale_);
    if (cap_) {
      all.push_back(*cap_);
    }
    return all;
  }

  std::optional<mx::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override {
    const cpu::Place place{runtime_, step.stream()};
    auto x = embed_tokens(
        table_,
        tokens,
        std::sqrt(static_cast<float>(config_.hidden)),
        step,
        place);
    const std::optional<mx::array> extra = extra_inputs(x, tokens, step, place);
    // Layers with donors store nothing: without outputs they need not run.
    const int64_t layers = outputs.empty() ? shape_.stored : config_.layers;
    for (int64_t i = 0; i < layers; ++i) {
      if (i > 0) {
        evaluate_long_chunk(step, x);
      }
      x = run_layer(i, x, extra, step, place);
    }
    return soft_capped(logits_of(output_, x, outputs, place), cap_, place);
  }

 private:
  /// [T, layers, extra]: what each layer adds of the token itself, from its own
  /// table and from the first embedding.
  std::optional<mx::array> extra_inputs(
      const mx::array& x,
      std::span<const int32_t> tokens,
      const Step& step,
      const cpu::Place& place) const {
    if (shape_.extra == 0) {
      return std::nullopt;
    }
    const auto s = place.stream;
    const auto width = static_cast<float>(shape_.extra);
    const mx::Shape shape{
        x.shape(0),
        static_cast<int>(config_.layers),
        static_cast<int>(shape_.extra)};
    const auto own =
        embed_tokens(extra_table_, tokens, std::sqrt(width), step, place);
    auto projected = cpu::linear(extra_projection_, x, std::nullopt, place);
    projected = mx::multiply(projected, projection_scale_, s);
    projected = cpu::normalise(
        extra_norm_,
        static_cast<float>(config_.norm_eps),
        mx::reshape(projected, shape, s),
        place);
    return mx::multiply(
        mx::add(projected, mx::reshape(own, shape, s), s), extra_scale_, s);
  }

  mx::array run_layer(
      int64_t index,
      const mx::array& x,
      const std::optional<mx::array>& extra,
      Step& step,
      const cpu::Place& place) const {
    const Gemma4Layer& layer = layers_[static_cast<size_t>(index)];
    const auto s = place.stream;
    const auto read = attend(index, x, step, place);
    const auto h = cpu::linear(layer.output, read, x, place);
    auto y = run_feed_forward(layer.feed_forward, h, place);
    if (extra) {
      const auto i = static_cast<int>(index);
      const auto mine = mx::reshape(
          mx::slice(*extra, {0, i, 0}, {x.shape(0), i + 1, extra->shape(2)}, s),
          {x.shape(0), extra->shape(2)},
          s);
      const auto gate = cpu::activate(
          cpu::Activation::kGeluTanh,
          cpu::linear(layer.extra_gate, y, std::nullopt, place),
          place);
      y = cpu::linear(
          layer.extra_output, mx::multiply(gate, mine, s), y, place);
    }
    return layer.scalar == 1.0f
        ? y
        : mx::multiply(y, scalars_[static_cast<size_t>(index)], s);
  }

  mx::array
  attend(int64_t index, const mx::array& x, Step& step, const cpu::Place& place)
      const {
    const Gemma4Layer& layer = layers_[static_cast<size_t>(index)];
    const auto qkv = cpu::linear(layer.qkv, x, std::nullopt, place);
    if (shape_.layers[static_cast<size_t>(index)].donor) {
      return step.attend_donor(
          LayerIndex(index),
          cpu::split_queries(layer.heads, qkv, step.positions(), place));
    }
    const auto [q, k, v] =
        cpu::split_heads(layer.heads, qkv, step.positions(), place);
    return step.attend(LayerIndex(index), q, k, v);
  }

  const ModelConfig config_;
  const Gemma4Shape shape_;
  const Runtime runtime_;
  // What graphs hold beside weights.
  const std::optional<mx::array> cap_; // of the logits
  const mx::array projection_scale_; // of the extra inputs
  const mx::array extra_scale_;
  std::vector<mx::array> scalars_; // [layer]
  std::shared_ptr<const cpu::Weight> table_;
  std::shared_ptr<const cpu::Weight> extra_table_;
  LinearPtr extra_projection_;
  std::shared_ptr<const std::vector<float>> extra_norm_;
  std::vector<Gemma4Layer> layers_;
  LinearPtr output_;
};

} // namespace

std::unique_ptr<Model>
make_gemma4(const WeightSource& source, Runtime runtime) {
  return std::make_unique<Gemma4>(source, std::move(runtime));
}

} // namespace holdfast
