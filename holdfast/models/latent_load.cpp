// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/latent_load.h"

#include <functional>
#include <string>
#include <utility>

#include "holdfast/models/rope.h"

namespace holdfast {

namespace {

/// A matrix [n, k] in f32, whose row i and column j are at (i, j) of a tensor.
cpu::Weight pack(
    int64_t n,
    int64_t k,
    const std::function<float(int64_t, int64_t)>& at,
    Executor& executor) {
  return cpu::Weight::pack_values(
      cpu::WeightFormat::Kind::kF32,
      n,
      k,
      [&](int64_t row, float* values) {
        for (int64_t i = 0; i < k; ++i) {
          values[i] = at(row, i);
        }
      },
      executor);
}

/// Turned elements are stored as pairs of neighbours (2 i, 2 i + 1); ours are
/// (i, i + half). Scores do not change where queries and keys agree.
int64_t stored_pair(int64_t i, int64_t turned) {
  const int64_t half = turned / 2;
  return i < half ? 2 * i : 2 * (i - half) + 1;
}

class Loader {
 public:
  Loader(
      const WeightSource& source,
      const LatentShape& shape,
      int64_t index,
      Executor& executor)
      : source_(source),
        shape_(shape),
        index_(index),
        executor_(executor),
        hidden_(source.config().hidden),
        eps_(static_cast<float>(source.config().norm_eps)) {}

  std::vector<float> norm(const char* tensor, int64_t n) const {
    return source_.vector(layer_tensor(index_, tensor), n);
  }

  /// All heads' plain elements, then all heads' turned ones.
  LinearPtr
  query(const char* tensor, int64_t k, std::vector<float> norm, float eps)
      const {
    const int64_t head = shape_.plain + shape_.turned;
    const int64_t plain = shape_.heads * shape_.plain;
    const auto all =
        source_.vector(layer_tensor(index_, tensor), shape_.heads * head * k);
    const auto row_of = [&](int64_t row) {
      if (row < plain) {
        return row / shape_.plain * head + row % shape_.plain;
      }
      const int64_t i = row - plain;
      return i / shape_.turned * head + shape_.plain +
          stored_pair(i % shape_.turned, shape_.turned);
    };
    return linear(
        pack(
            shape_.heads * head,
            k,
            [&](int64_t row, int64_t i) {
              return all[static_cast<size_t>(row_of(row) * k + i)];
            },
            executor_),
        std::move(norm),
        eps);
  }

  /// The turned key, then the latent.
  LinearPtr kv() const {
    const int64_t n = shape_.rank + shape_.turned;
    const auto all = source_.vector(
        layer_tensor(index_, "self_attn.kv_a_proj_with_mqa.weight"),
        n * hidden_);
    return linear(
        pack(
            n,
            hidden_,
            [&](int64_t row, int64_t i) {
              const int64_t stored = row < shape_.turned
                  ? shape_.rank + stored_pair(row, shape_.turned)
                  : row - shape_.turned;
              return all[static_cast<size_t>(stored * hidden_ + i)];
            },
            executor_),
        norm("input_layernorm.weight", hidden_),
        eps_);
  }

  void add_expansions(LatentLayer& layer) const {
    const int64_t head = shape_.plain + shape_.value;
    const auto all = source_.vector(
        layer_tensor(index_, "self_attn.kv_b_proj.weight"),
        shape_.heads * head * shape_.rank);
    const auto at = [&](int64_t h, int64_t row, int64_t column) {
      return all[static_cast<size_t>((h * head + row) * shape_.rank + column)];
    };
    std::vector<cpu::Weight> to;
    std::vector<cpu::Weight> from;
    for (int64_t h = 0; h < shape_.heads; ++h) {
      to.push_back(pack(
          shape_.rank,
          shape_.plain,
          [&](int64_t row, int64_t i) { return at(h, i, row); },
          executor_));
      from.push_back(pack(
          shape_.value,
          shape_.rank,
          [&](int64_t row, int64_t i) { return at(h, shape_.plain + row, i); },
          executor_));
    }
    layer.to_latent =
        std::make_shared<const std::vector<cpu::Weight>>(std::move(to));
    layer.from_latent =
        std::make_shared<const std::vector<cpu::Weight>>(std::move(from));
  }

 private:
  static LinearPtr
  linear(cpu::Weight weight, std::vector<float> norm, float eps) {
    return std::make_shared<const cpu::LinearLayer>(cpu::LinearLayer{
        .weights = {std::make_shared<const cpu::Weight>(std::move(weight))},
        .norm = std::move(norm),
        .post_norm = {},
        .eps = eps});
  }

  const WeightSource& source_;
  const LatentShape& shape_;
  const int64_t index_;
  Executor& executor_;
  const int64_t hidden_;
  const float eps_;
};

} // namespace

LatentShape latent_shape(const Settings& settings, const ModelConfig& config) {
  const auto refuse = [&](const char* which, const char* expected) {
    throw settings.refusal(which, expected, "another", ErrorCode::kUnsupported);
  };
  if (settings.size("n_routed_experts", 0) > 0) {
    refuse("n_routed_experts", "a dense model (null)");
  }
  if (settings.flag("attention_bias", false)) {
    refuse("attention_bias", "no biases (false)");
  }
  if (settings.number("rope_scaling.factor", 1.0) != 1.0) {
    refuse("rope_scaling.factor", "a rope that is not scaled (1)");
  }
  LatentShape shape{
      .heads = config.query_heads,
      .rank = settings.size("kv_lora_rank"),
      .query_rank = settings.size("q_lora_rank", 0),
      .plain = settings.size("qk_nope_head_dim"),
      .turned = settings.size("qk_rope_head_dim"),
      .value = settings.size("v_head_dim"),
      .rope = {}};
  const auto fits = [](int64_t size) {
    return size >= 1 && size <= kMostModelSize;
  };
  if (!fits(shape.rank) || !fits(shape.plain) || !fits(shape.value) ||
      !fits(shape.turned) || shape.turned % 2 != 0 ||
      shape.query_rank > kMostModelSize) {
    throw settings.refusal(
        "qk_rope_head_dim",
        "head sizes and ranks from 1 to " + std::to_string(kMostModelSize) +
            ", an even one to turn",
        "others");
  }
  shape.rope = {
      .dims = shape.turned, .base = rope_base(settings, "rope_theta", 10000.0)};
  return shape;
}

LatentLayer load_latent_layer(
    const WeightSource& source,
    const LatentShape& shape,
    int64_t index,
    Executor& executor) {
  const ModelConfig& config = source.config();
  const auto eps = static_cast<float>(config.norm_eps);
  const int64_t hidden = config.hidden;
  const Loader loader(source, shape, index, executor);
  LatentLayer layer;
  // Both projections of the input have the same norm before them.
  layer.kv = loader.kv();
  const std::vector<float>& norm = layer.kv->norm;
  if (shape.query_rank > 0) {
    layer.query_down = load_linear(
        source,
        {{layer_tensor(index, "self_attn.q_a_proj.weight"), shape.query_rank}},
        {.k = hidden, .norm = norm, .eps = eps});
    layer.query = loader.query(
        "self_attn.q_b_proj.weight",
        shape.query_rank,
        loader.norm("self_attn.q_a_layernorm.weight", shape.query_rank),
        kLatentInnerEps);
  } else {
    layer.query = loader.query("self_attn.q_proj.weight", hidden, norm, eps);
  }
  layer.heads = std::make_shared<const cpu::HeadsLayer>(cpu::HeadsLayer{
      .query_heads = shape.heads + 1,
      .kv_heads = 0,
      .head_dim = shape.turned,
      .query_norm = {},
      .key_norm = {},
      .rope = shape.rope});
  layer.latent_norm = std::make_shared<const std::vector<float>>(
      loader.norm("self_attn.kv_a_layernorm.weight", shape.rank));
  loader.add_expansions(layer);
  layer.output = load_linear(
      source,
      {{layer_tensor(index, "self_attn.o_proj.weight"), hidden}},
      {.k = shape.heads * shape.value});
  layer.feed_forward = load_feed_forward(
      source,
      {.gate = layer_tensor(index, "mlp.gate_proj.weight"),
       .up = layer_tensor(index, "mlp.up_proj.weight"),
       .down = layer_tensor(index, "mlp.down_proj.weight"),
       .hidden = hidden,
       .ffn = config.ffn,
       .norm = loader.norm("post_attention_layernorm.weight", hidden),
       .eps = eps});
  return layer;
}

Bytes weight_bytes(const LatentLayer& layer) {
  Bytes total = weight_bytes(layer.feed_forward);
  for (const auto& part :
       {layer.query_down, layer.query, layer.kv, layer.output}) {
    total += part ? weight_bytes(*part) : Bytes(0);
  }
  for (const auto& part : {layer.to_latent, layer.from_latent}) {
    for (const cpu::Weight& weight : *part) {
      total += weight.bytes();
    }
  }
  return total;
}

} // namespace holdfast
