// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/latent.h"

#include <cmath>
#include <utility>

#include "mlx/ops.h"

#include "holdfast/models/blocks.h"
#include "holdfast/models/latent_load.h"
#include "holdfast/models/output_layer.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class Latent : public Model {
 public:
  Latent(const WeightSource& source, Runtime runtime)
      : config_(source.config()),
        shape_(latent_shape(source.settings(), config_)),
        runtime_(std::move(runtime)) {
    table_ = std::make_shared<const cpu::Weight>(
        source.matrix("embed_tokens.weight", config_.vocab, config_.hidden));
    for (int64_t i = 0; i < config_.layers; ++i) {
      layers_.push_back(
          load_latent_layer(source, shape_, i, *runtime_.executor));
    }
    output_ = load_output(
        source,
        table_,
        "lm_head.weight",
        source.vector("norm.weight", config_.hidden));
  }

  const ModelConfig& config() const override {
    return config_;
  }

  std::vector<LayerSpec> layers() const override {
    const auto width = static_cast<float>(shape_.plain + shape_.turned);
    return std::vector<LayerSpec>(
        static_cast<size_t>(config_.layers),
        AttentionSpec{
            .query_heads = shape_.heads,
            .kv_heads = 1,
            .key_dim = shape_.turned,
            .value_dim = shape_.rank,
            .scale = 1.0f / std::sqrt(width),
            .latent = true});
  }

  Bytes weight_bytes() const override {
    return holdfast::weight_bytes(*table_, *output_, layers_);
  }

  std::optional<mx::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override {
    const cpu::Place place{runtime_, step.stream()};
    auto x = embed_tokens(table_, tokens, 1.0f, step, place);
    for (int64_t i = 0; i < config_.layers; ++i) {
      if (i > 0) {
        evaluate_long_chunk(step, x);
      }
      const LatentLayer& layer = layers_[static_cast<size_t>(i)];
      const auto read = attend(layer, LayerIndex(i), x, step, place);
      const auto h = cpu::linear(layer.output, read, x, place);
      x = run_feed_forward(layer.feed_forward, h, place);
    }
    return logits_of(output_, x, outputs, place);
  }

 private:
  /// Columns [first, end) of x [T, n], in memory of their own.
  static mx::array
  columns(const mx::array& x, int64_t first, int64_t end, mx::Stream s) {
    return mx::contiguous(
        mx::slice(
            x,
            {0, static_cast<int>(first)},
            {x.shape(0), static_cast<int>(end)},
            s),
        false,
        s);
  }

  /// [T, heads, value].
  mx::array attend(
      const LatentLayer& layer,
      LayerIndex index,
      const mx::array& x,
      Step& step,
      const cpu::Place& place) const {
    const auto s = place.stream;
    const int tokens = x.shape(0);
    const auto heads = static_cast<int>(shape_.heads);
    const auto turned = static_cast<int>(shape_.turned);
    const auto kv = cpu::linear(layer.kv, x, std::nullopt, place);
    const auto query_input = layer.query_down
        ? cpu::linear(layer.query_down, x, std::nullopt, place)
        : x;
    const auto query =
        cpu::linear(layer.query, query_input, std::nullopt, place);
    const int64_t plain = shape_.heads * shape_.plain;
    // The heads' queries and the key, side by side, are turned at once.
    const auto with_position = mx::concatenate(
        {columns(query, plain, query.shape(1), s), columns(kv, 0, turned, s)},
        1,
        s);
    const auto roped =
        cpu::split_queries(layer.heads, with_position, step.positions(), place);
    const auto part = [&](int first, int end) {
      return mx::contiguous(
          mx::slice(roped, {0, first, 0}, {tokens, end, turned}, s), false, s);
    };
    const auto over_latent = cpu::heads_linear(
        layer.to_latent,
        mx::reshape(
            columns(query, 0, plain, s),
            {tokens, heads, static_cast<int>(shape_.plain)},
            s),
        place);
    const auto latent = cpu::normalise(
        layer.latent_norm,
        kLatentInnerEps,
        columns(kv, turned, kv.shape(1), s),
        place);
    const auto read = step.attend(
        index,
        mx::concatenate({over_latent, part(0, heads)}, 2, s),
        part(heads, heads + 1),
        mx::reshape(latent, {tokens, 1, static_cast<int>(shape_.rank)}, s));
    return cpu::heads_linear(layer.from_latent, read, place);
  }

  const ModelConfig config_;
  const LatentShape shape_;
  const Runtime runtime_;
  std::shared_ptr<const cpu::Weight> table_;
  std::vector<LatentLayer> layers_;
  LinearPtr output_;
};

} // namespace

std::unique_ptr<Model>
make_latent(const WeightSource& source, Runtime runtime) {
  return std::make_unique<Latent>(source, std::move(runtime));
}

} // namespace holdfast
