// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/qwen35.h"

#include <cmath>
#include <string>
#include <utility>

#include "holdfast/kernels/cpu/gated_delta.h"
#include "holdfast/models/blocks.h"
#include "holdfast/models/feed_forward.h"
#include "holdfast/models/output_layer.h"
#include "holdfast/models/rope.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

struct Qwen35Layer {
  LinearPtr in; // q, k, v with gates; or q, k, v, z, b, a
  std::shared_ptr<const cpu::HeadsLayer> heads; // of attention
  std::shared_ptr<const cpu::GatedDelta> delta; // of a recurrent layer
  LinearPtr out;
  FeedForward feed_forward;
};

/// What the settings say beyond the neutral configuration.
struct Qwen35Shape {
  RecurrentSpec recurrent;
  int64_t full_interval = 0; // each so manieth layer is attention
  cpu::Rope rope;
  bool tied = false;

  bool is_recurrent(int64_t layer) const {
    return (layer + 1) % full_interval != 0;
  }
};

void refuse_unknown(const Settings& settings) {
  const auto refuse = [&](const char* name, const char* expected) {
    throw settings.refusal(name, expected, "another", ErrorCode::kUnsupported);
  };
  if (settings.size("num_experts", 0) > 0) {
    refuse("num_experts", "a dense model (0)");
  }
  if (settings.flag("attention_bias", false)) {
    refuse("attention_bias", "no biases (false)");
  }
  const std::string rope = settings.text(
      "rope_parameters.rope_type",
      settings.text("rope_parameters.type", "default"));
  if (rope != "default" && rope != "mrope") {
    refuse("rope_parameters.rope_type", "default");
  }
}

Qwen35Shape shape_of(const WeightSource& source) {
  const Settings& settings = source.settings();
  refuse_unknown(settings);
  Qwen35Shape shape;
  shape.recurrent = {
      .key_heads = settings.size("linear_num_key_heads"),
      .value_heads = settings.size("linear_num_value_heads"),
      .key_dim = settings.size("linear_key_head_dim"),
      .value_dim = settings.size("linear_value_head_dim"),
      .taps = settings.size("linear_conv_kernel_dim")};
  check_recurrent(shape.recurrent).check();
  shape.full_interval = settings.size("full_attention_interval", 4);
  if (shape.full_interval < 1) {
    throw settings.refusal("full_attention_interval", "at least 1", "0");
  }
  shape.rope = {
      .dims = rope_dims(source, 0.25),
      .base = rope_base(settings, "rope_parameters.rope_theta", 100000.0)};
  shape.tied = settings.flag("tie_word_embeddings", false);
  return shape;
}

class Qwen35Loader {
 public:
  Qwen35Loader(
      const WeightSource& source,
      const ModelConfig& config,
      const Qwen35Shape& shape)
      : source_(source),
        config_(config),
        shape_(shape),
        eps_(static_cast<float>(config.norm_eps)) {
    // As published, convolutions are [channels, 1, taps] and norms are stored
    // less one; mlx-lm turns both round when it converts.
    for (int64_t i = 0; i < config.layers; ++i) {
      if (shape.is_recurrent(i)) {
        const auto conv =
            source.dims(layer_tensor(i, "linear_attn.conv1d.weight"));
        published_ = conv.empty() || conv.back() != 1;
        break;
      }
    }
  }

  Qwen35Layer layer(int64_t i) const {
    Qwen35Layer layer;
    if (shape_.is_recurrent(i)) {
      add_recurrent(i, layer);
    } else {
      add_attention(i, layer);
    }
    layer.feed_forward = load_feed_forward(
        source_,
        {.gate = layer_tensor(i, "mlp.gate_proj.weight"),
         .up = layer_tensor(i, "mlp.up_proj.weight"),
         .down = layer_tensor(i, "mlp.down_proj.weight"),
         .hidden = config_.hidden,
         .ffn = config_.ffn,
         .norm = norm(
             layer_tensor(i, "post_attention_layernorm.weight"),
             config_.hidden),
         .eps = eps_});
    return layer;
  }

  std::vector<float> norm(const std::string& tensor, int64_t n) const {
    std::vector<float> weight = source_.vector(tensor, n);
    for (float& value : weight) {
      value += published_ ? 1.0f : 0.0f;
    }
    return weight;
  }

 private:
  void add_recurrent(int64_t i, Qwen35Layer& layer) const {
    const RecurrentSpec& spec = shape_.recurrent;
    const int64_t values = spec.value_heads * spec.value_dim;
    const int64_t channels = spec.key_heads * spec.head_width();
    layer.in = load_linear(
        source_,
        {{layer_tensor(i, "linear_attn.in_proj_qkv.weight"), channels},
         {layer_tensor(i, "linear_attn.in_proj_z.weight"), values},
         {layer_tensor(i, "linear_attn.in_proj_b.weight"), spec.value_heads},
         {layer_tensor(i, "linear_attn.in_proj_a.weight"), spec.value_heads}},
        {.k = config_.hidden,
         .norm =
             norm(layer_tensor(i, "input_layernorm.weight"), config_.hidden),
         .eps = eps_});
    const auto vector = [&](const char* tensor, int64_t n) {
      return source_.vector(layer_tensor(i, tensor), n);
    };
    cpu::GatedDelta delta = cpu::GatedDelta::make(
        spec,
        vector("linear_attn.conv1d.weight", channels * spec.taps),
        vector("linear_attn.A_log", spec.value_heads),
        vector("linear_attn.dt_bias", spec.value_heads),
        vector("linear_attn.norm.weight", spec.value_dim));
    delta.eps = eps_;
    layer.delta = std::make_shared<const cpu::GatedDelta>(std::move(delta));
    layer.out = load_linear(
        source_,
        {{layer_tensor(i, "linear_attn.out_proj.weight"), config_.hidden}},
        {.k = values});
  }

  void add_attention(int64_t i, Qwen35Layer& layer) const {
    const int64_t dim = config_.head_dim;
    layer.in = load_linear(
        source_,
        {{layer_tensor(i, "self_attn.q_proj.weight"),
          2 * config_.query_heads * dim},
         {layer_tensor(i, "self_attn.k_proj.weight"), config_.kv_heads * dim},
         {layer_tensor(i, "self_attn.v_proj.weight"), config_.kv_heads * dim}},
        {.k = config_.hidden,
         .norm =
             norm(layer_tensor(i, "input_layernorm.weight"), config_.hidden),
         .eps = eps_});
    layer.heads = std::make_shared<const cpu::HeadsLayer>(cpu::HeadsLayer{
        .query_heads = config_.query_heads,
        .kv_heads = config_.kv_heads,
        .head_dim = dim,
        .query_norm = norm(layer_tensor(i, "self_attn.q_norm.weight"), dim),
        .key_norm = norm(layer_tensor(i, "self_attn.k_norm.weight"), dim),
        .eps = eps_,
        .rope = shape_.rope,
        .gated = true});
    layer.out = load_linear(
        source_,
        {{layer_tensor(i, "self_attn.o_proj.weight"), config_.hidden}},
        {.k = config_.query_heads * dim});
  }

  const WeightSource& source_;
  const ModelConfig& config_;
  const Qwen35Shape& shape_;
  const float eps_;
  bool published_ = false;
};

class Qwen35 : public Model {
 public:
  Qwen35(const WeightSource& source, Runtime runtime)
      : config_(source.config()),
        shape_(shape_of(source)),
        runtime_(std::move(runtime)) {
    const Qwen35Loader loader(source, config_, shape_);
    table_ = std::make_shared<const cpu::Weight>(
        source.matrix("embed_tokens.weight", config_.vocab, config_.hidden));
    for (int64_t i = 0; i < config_.layers; ++i) {
      layers_.push_back(loader.layer(i));
    }
    output_ = load_output(
        source,
        table_,
        shape_.tied ? "" : "lm_head.weight",
        loader.norm("norm.weight", config_.hidden));
  }

  const ModelConfig& config() const override {
    return config_;
  }

  std::vector<LayerSpec> layers() const override {
    std::vector<LayerSpec> specs;
    for (int64_t i = 0; i < config_.layers; ++i) {
      if (shape_.is_recurrent(i)) {
        specs.emplace_back(shape_.recurrent);
      } else {
        specs.emplace_back(AttentionSpec{
            .query_heads = config_.query_heads,
            .kv_heads = config_.kv_heads,
            .key_dim = config_.head_dim,
            .value_dim = config_.head_dim,
            .scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim))});
      }
    }
    return specs;
  }

  Bytes weight_bytes() const override {
    Bytes total = holdfast::weight_bytes(*table_, *output_);
    for (const auto& layer : layers_) {
      total += holdfast::weight_bytes(*layer.in);
      total += holdfast::weight_bytes(*layer.out);
      total += holdfast::weight_bytes(layer.feed_forward);
    }
    return total;
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
      x = run_layer(
          layers_[static_cast<size_t>(i)], LayerIndex(i), x, step, place);
    }
    return logits_of(output_, x, outputs, place);
  }

 private:
  static mx::array run_layer(
      const Qwen35Layer& layer,
      LayerIndex index,
      const mx::array& x,
      Step& step,
      const cpu::Place& place) {
    const auto in = cpu::linear(layer.in, x, std::nullopt, place);
    mx::array mixed = in;
    if (layer.delta) {
      mixed = step.recur(index, layer.delta, in);
    } else {
      const auto [q, k, v] =
          cpu::split_heads(layer.heads, in, step.positions(), place);
      mixed =
          cpu::gate_heads(layer.heads, step.attend(index, q, k, v), in, place);
    }
    const auto h = cpu::linear(layer.out, mixed, x, place);
    return run_feed_forward(layer.feed_forward, h, place);
  }

  const ModelConfig config_;
  const Qwen35Shape shape_;
  const Runtime runtime_;
  std::shared_ptr<const cpu::Weight> table_;
  std::vector<Qwen35Layer> layers_;
  LinearPtr output_;
};

} // namespace

std::unique_ptr<Model>
make_qwen35(const WeightSource& source, Runtime runtime) {
  return std::make_unique<Qwen35>(source, std::move(runtime));
}

} // namespace holdfast
