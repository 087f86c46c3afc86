// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/gemma4_load.h"

#include <map>
#include <string>
#include <utility>

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
      .base = static_cast<float>(
          settings.number(prefix + "rope_theta", sliding ? 1e4 : 1e6))};
  if (type == "proportional") {
    // Frequencies of the whole head; only the leading pairs turn.
    const double part =
        settings.number(prefix + "partial_rotary_factor", sliding ? 1.0 : 0.25);
    rope.turned =
        static_cast<int64_t>(static_cast<double>(head_dim) * part) / 2;
    rope.scale =
        static_cast<float>(1.0 / settings.number(prefix + "factor", 1.0));
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

std::string name(int64_t layer, const char* tensor) {
  return "layers." + std::to_string(layer) + "." + tensor + ".weight";
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

Gemma4Layer load_gemma4_layer(
    const WeightSource& source,
    const Gemma4Shape& shape,
    int64_t index) {
  const ModelConfig& config = source.config();
  const Gemma4LayerShape& of = shape.layers[static_cast<size_t>(index)];
  const auto eps = static_cast<float>(config.norm_eps);
  const int64_t hidden = config.hidden;
  const int64_t dim = of.head_dim;
  const int64_t query_width = config.query_heads * dim;
  const auto norm = [&](const char* tensor, int64_t n) {
    return source.vector(name(index, tensor), n);
  };
  Gemma4Layer layer;
  std::vector<MatrixName> qkv{{name(index, "self_attn.q_proj"), query_width}};
  cpu::HeadsLayer heads{
      .query_heads = config.query_heads,
      .kv_heads = 0,
      .head_dim = dim,
      .query_norm = norm("self_attn.q_norm", dim),
      .key_norm = {},
      .eps = eps,
      .rope = of.rope};
  if (!of.donor) {
    qkv.push_back({name(index, "self_attn.k_proj"), of.kv_heads * dim});
    qkv.push_back(
        {of.keys_are_values ? "" : name(index, "self_attn.v_proj"),
         of.kv_heads * dim});
    heads.kv_heads = of.kv_heads;
    heads.key_norm = norm("self_attn.k_norm", dim);
    heads.value_norm.assign(static_cast<size_t>(dim), 1.0f);
  }
  layer.heads = std::make_shared<const cpu::HeadsLayer>(std::move(heads));
  layer.qkv = load_linear(
      source,
      qkv,
      {.k = hidden, .norm = norm("input_layernorm", hidden), .eps = eps});
  layer.output = load_linear(
      source,
      {{name(index, "self_attn.o_proj"), hidden}},
      {.k = query_width,
       .post_norm = norm("post_attention_layernorm", hidden),
       .eps = eps});
  layer.gate_up = load_linear(
      source,
      {{name(index, "mlp.gate_proj"), of.ffn},
       {name(index, "mlp.up_proj"), of.ffn}},
      {.k = hidden,
       .norm = norm("pre_feedforward_layernorm", hidden),
       .eps = eps,
       .gate = cpu::Gate::kGeluTanh});
  layer.down = load_linear(
      source,
      {{name(index, "mlp.down_proj"), hidden}},
      {.k = of.ffn,
       .post_norm = norm("post_feedforward_layernorm", hidden),
       .eps = eps});
  if (shape.extra > 0) {
    layer.extra_gate = load_linear(
        source,
        {{name(index, "per_layer_input_gate"), shape.extra}},
        {.k = hidden});
    layer.extra_output = load_linear(
        source,
        {{name(index, "per_layer_projection"), hidden}},
        {.k = shape.extra,
         .post_norm = norm("post_per_layer_input_norm", hidden),
         .eps = eps});
  }
  const std::string scalar =
      "layers." + std::to_string(index) + ".layer_scalar";
  layer.scalar = source.has(scalar) ? source.vector(scalar, 1)[0] : 1.0f;
  return layer;
}

Bytes weight_bytes(const Gemma4Layer& layer) {
  Bytes total;
  for (const auto& part :
       {layer.qkv,
        layer.output,
        layer.gate_up,
        layer.down,
        layer.extra_gate,
        layer.extra_output}) {
    total += part ? weight_bytes(*part) : Bytes(0);
  }
  return total;
}

} // namespace holdfast
