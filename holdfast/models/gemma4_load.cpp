// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma4_load.h"

#include <map>
#include <string>
#include <utility>

#include "holdfast/models/rope.h"

namespace holdfast {

namespace {

constexpr const char* kSliding = "sliding_attention";
constexpr const char* kFull = "full_attention";

cpu::Rope rope_of(const Settings& settings, bool sliding, int64_t head_dim) {
  const std::string prefix =
      std::string("rope_parameters.") + (sliding ? kSliding : kFull) + ".";
  const std::string type =
      settings.text(prefix + "rope_type", sliding ? "default" : "proportional");
  cpu::Rope rope{
      .dims = head_dim,
      .base = rope_base(settings, prefix + "rope_theta", sliding ? 1e4 : 1e6)};
  if (type == "proportional") {
    // Frequencies of the whole head; only the leading pairs turn.
    const double part =
        settings.number(prefix + "partial_rotary_factor", sliding ? 1.0 : 0.25);
    rope.turned =
        static_cast<int64_t>(static_cast<double>(head_dim) * part) / 2;
    const double factor = settings.number(prefix + "factor", 1.0);
    if (!(factor >= 1e-6 && factor <= 1e6)) {
      throw settings.refusal(
          prefix + "factor", "from 1e-6 to 1e6", std::to_string(factor));
    }
    rope.scale = static_cast<float>(1.0 / factor);
    if (rope.turned < 1 || rope.turned > head_dim / 2) {
      throw settings.refusal(
          prefix + "partial_rotary_factor",
          "a part of a head in (0, 1]",
          std::to_string(part));
    }
  } else if (type != "default") {
    throw settings.refusal(
        prefix + "rope_type",
        "default or proportional",
        type,
        ErrorCode::kUnsupported);
  }
  return rope;
}

/// The last layer of the same kind among those that store.
LayerIndex donor_of(
    const Settings& settings,
    const std::vector<Gemma4LayerShape>& layers,
    int64_t stored,
    bool sliding) {
  for (int64_t i = stored - 1; i >= 0; --i) {
    if (layers[static_cast<size_t>(i)].sliding == sliding) {
      return LayerIndex(i);
    }
  }
  throw settings.refusal(
      "num_kv_shared_layers",
      std::string("a layer of ") + (sliding ? kSliding : kFull) +
          " before the shared ones",
      "none");
}

Gemma4LayerShape layer_shape(
    const Settings& settings,
    const ModelConfig& config,
    const std::string& type) {
  if (type != kSliding && type != kFull) {
    throw settings.refusal(
        "layer_types",
        std::string(kSliding) + " or " + kFull,
        type,
        ErrorCode::kUnsupported);
  }
  Gemma4LayerShape layer;
  layer.sliding = type == kSliding;
  layer.head_dim = config.head_dim;
  layer.kv_heads = config.kv_heads;
  layer.ffn = config.ffn;
  if (!layer.sliding) {
    layer.head_dim = settings.size("global_head_dim", config.head_dim);
    layer.keys_are_values = settings.flag("attention_k_eq_v", false);
    if (layer.keys_are_values) {
      layer.kv_heads =
          settings.size("num_global_key_value_heads", config.kv_heads);
    }
  }
  layer.rope = rope_of(settings, layer.sliding, layer.head_dim);
  return layer;
}

} // namespace

Gemma4Shape gemma4_shape(const Settings& settings, const ModelConfig& config) {
  if (settings.flag("enable_moe_block", false)) {
    throw settings.refusal(
        "enable_moe_block",
        "a dense model",
        "experts",
        ErrorCode::kUnsupported);
  }
  const auto types = settings.texts("layer_types");
  const int64_t shared = settings.size("num_kv_shared_layers", 0);
  if (std::ssize(types) != config.layers || shared >= config.layers) {
    throw settings.refusal(
        "layer_types",
        "a type a layer, and fewer shared layers than layers",
        std::to_string(types.size()) + " types, " + std::to_string(shared) +
            " shared layers");
  }
  if (config.window < 1) {
    throw settings.refusal("sliding_window", "at least 1", "0");
  }
  Gemma4Shape shape;
  shape.stored = config.layers - shared;
  const bool wide = settings.flag("use_double_wide_mlp", true);
  for (const std::string& type : types) {
    Gemma4LayerShape layer = layer_shape(settings, config, type);
    if (std::ssize(shape.layers) >= shape.stored) {
      layer.donor =
          donor_of(settings, shape.layers, shape.stored, layer.sliding);
      layer.ffn *= wide ? 2 : 1;
    }
    shape.layers.push_back(layer);
  }
  shape.extra = settings.size("hidden_size_per_layer_input", 0);
  shape.extra_vocab = settings.size("vocab_size_per_layer_input", config.vocab);
  shape.softcap =
      static_cast<float>(settings.number("final_logit_softcapping", 0.0));
  shape.tied = settings.flag("tie_word_embeddings", true);
  return shape;
}

namespace {

/// What the parts of one layer are loaded from.
class Loader {
 public:
  Loader(const WeightSource& source, const Gemma4LayerShape& of, int64_t index)
      : source_(source),
        config_(source.config()),
        of_(of),
        index_(index),
        eps_(static_cast<float>(config_.norm_eps)) {}

  void add_attention(Gemma4Layer& layer) const {
    const int64_t dim = of_.head_dim;
    const int64_t query_width = config_.query_heads * dim;
    std::vector<MatrixName> qkv{{name("self_attn.q_proj.weight"), query_width}};
    cpu::HeadsLayer heads{
        .query_heads = config_.query_heads,
        .kv_heads = 0,
        .head_dim = dim,
        .query_norm = norm("self_attn.q_norm.weight", dim),
        .key_norm = {},
        .eps = eps_,
        .rope = of_.rope};
    if (!of_.donor) {
      qkv.push_back({name("self_attn.k_proj.weight"), of_.kv_heads * dim});
      qkv.push_back(
          {of_.keys_are_values ? "" : name("self_attn.v_proj.weight"),
           of_.kv_heads * dim});
      heads.kv_heads = of_.kv_heads;
      heads.key_norm = norm("self_attn.k_norm.weight", dim);
      heads.value_norm.assign(static_cast<size_t>(dim), 1.0f);
    }
    layer.heads = std::make_shared<const cpu::HeadsLayer>(std::move(heads));
    layer.qkv = load_linear(
        source_,
        qkv,
        {.k = config_.hidden,
         .norm = hidden_norm("input_layernorm.weight"),
         .eps = eps_});
    layer.output = load_linear(
        source_,
        {{name("self_attn.o_proj.weight"), config_.hidden}},
        {.k = query_width,
         .post_norm = hidden_norm("post_attention_layernorm.weight"),
         .eps = eps_});
  }

  FeedForward feed_forward() const {
    return load_feed_forward(
        source_,
        {.gate = name("mlp.gate_proj.weight"),
         .up = name("mlp.up_proj.weight"),
         .down = name("mlp.down_proj.weight"),
         .hidden = config_.hidden,
         .ffn = of_.ffn,
         .norm = hidden_norm("pre_feedforward_layernorm.weight"),
         .post_norm = hidden_norm("post_feedforward_layernorm.weight"),
         .eps = eps_,
         .activation = cpu::Gate::kGeluTanh});
  }

  /// The layer's own embedding, of that width.
  void add_extra(Gemma4Layer& layer, int64_t extra) const {
    layer.extra_gate = load_linear(
        source_,
        {{name("per_layer_input_gate.weight"), extra}},
        {.k = config_.hidden});
    layer.extra_output = load_linear(
        source_,
        {{name("per_layer_projection.weight"), config_.hidden}},
        {.k = extra,
         .post_norm = hidden_norm("post_per_layer_input_norm.weight"),
         .eps = eps_});
  }

  float scalar() const {
    const std::string scalar = name("layer_scalar");
    return source_.has(scalar) ? source_.vector(scalar, 1)[0] : 1.0f;
  }

 private:
  std::string name(const char* tensor) const {
    return layer_tensor(index_, tensor);
  }
  std::vector<float> norm(const char* tensor, int64_t n) const {
    return source_.vector(name(tensor), n);
  }
  std::vector<float> hidden_norm(const char* tensor) const {
    return norm(tensor, config_.hidden);
  }

  const WeightSource& source_;
  const ModelConfig& config_;
  const Gemma4LayerShape& of_;
  const int64_t index_;
  const float eps_;
};

} // namespace

Gemma4Layer load_gemma4_layer(
    const WeightSource& source,
    const Gemma4Shape& shape,
    int64_t index) {
  const Loader loader(source, shape.layers[static_cast<size_t>(index)], index);
  Gemma4Layer layer;
  loader.add_attention(layer);
  layer.feed_forward = loader.feed_forward();
  if (shape.extra > 0) {
    loader.add_extra(layer, shape.extra);
  }
  layer.scalar = loader.scalar();
  return layer;
}

Bytes weight_bytes(const Gemma4Layer& layer) {
  Bytes total = weight_bytes(layer.feed_forward);
  for (const auto& part :
       {layer.qkv, layer.output, layer.extra_gate, layer.extra_output}) {
    total += part ? weight_bytes(*part) : Bytes(0);
  }
  return total;
}

} // namespace holdfast
