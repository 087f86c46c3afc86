// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/decoder_load.h"

#include <utility>

namespace holdfast {

namespace {

/// What the parts of one layer are loaded from.
class Loader {
 public:
  Loader(const WeightSource& source, const DecoderShape& shape, int64_t index)
      : source_(source),
        config_(source.config()),
        shape_(shape),
        index_(index),
        eps_(static_cast<float>(config_.norm_eps)) {}

  LinearPtr qkv() const {
    const int64_t query = config_.query_heads * config_.head_dim;
    const int64_t kv = config_.kv_heads * config_.head_dim;
    std::vector<MatrixName> matrices{
        {name("self_attn.q_proj.weight"), query},
        {name("self_attn.k_proj.weight"), kv},
        {name("self_attn.v_proj.weight"), kv}};
    if (shape_.fused) {
      matrices = {{name("self_attn.qkv_proj.weight"), query + 2 * kv}};
    }
    return load_linear(
        source_,
        matrices,
        {.k = config_.hidden,
         .norm = hidden_norm("input_layernorm.weight"),
         .eps = eps_,
         .biases = shape_.qkv_biases});
  }

  std::shared_ptr<const cpu::HeadsLayer> heads() const {
    cpu::HeadsLayer heads{
        .query_heads = config_.query_heads,
        .kv_heads = config_.kv_heads,
        .head_dim = config_.head_dim,
        .query_norm = {},
        .key_norm = {},
        .eps = eps_,
        .rope = rope()};
    if (shape_.head_norms) {
      const int64_t dim = config_.head_dim;
      heads.query_norm = norm("self_attn.q_norm.weight", dim);
      heads.key_norm = norm("self_attn.k_norm.weight", dim);
    }
    return std::make_shared<const cpu::HeadsLayer>(std::move(heads));
  }

  LinearPtr output() const {
    return load_linear(
        source_,
        {{name("self_attn.o_proj.weight"), config_.hidden}},
        {.k = config_.query_heads * config_.head_dim,
         .post_norm = post_norm("post_attention_layernorm.weight"),
         .eps = eps_,
         .biases = shape_.output_bias});
  }

  Experts experts() const {
    return load_experts(
        source_,
        shape_.experts,
        {.layer = index_,
         .norm = hidden_norm("post_attention_layernorm.weight"),
         .eps = eps_,
         .activation = shape_.gate});
  }

  FeedForward feed_forward() const {
    return load_feed_forward(
        source_,
        {.gate = name("mlp.gate_proj.weight"),
         .up = name("mlp.up_proj.weight"),
         .down = name("mlp.down_proj.weight"),
         .fused = shape_.fused ? name("mlp.gate_up_proj.weight") : "",
         .hidden = config_.hidden,
         .ffn = config_.ffn,
         .norm = hidden_norm(
             shape_.post_norms ? "pre_feedforward_layernorm.weight"
                               : "post_attention_layernorm.weight"),
         .post_norm = post_norm("post_feedforward_layernorm.weight"),
         .eps = eps_,
         .activation = shape_.gate,
         .biases = shape_.ffn_biases});
  }

 private:
  const cpu::Rope& rope() const {
    const bool local = shape_.windows[static_cast<size_t>(index_)] > 0;
    return local && shape_.local_rope ? *shape_.local_rope : shape_.rope;
  }
  std::string name(const char* tensor) const {
    return layer_tensor(index_, tensor);
  }
  std::vector<float> norm(const char* tensor, int64_t n) const {
    return load_norm(source_, shape_, name(tensor), n);
  }
  std::vector<float> hidden_norm(const char* tensor) const {
    return norm(tensor, config_.hidden);
  }
  std::vector<float> post_norm(const char* tensor) const {
    return shape_.post_norms ? hidden_norm(tensor) : std::vector<float>();
  }

  const WeightSource& source_;
  const ModelConfig& config_;
  const DecoderShape& shape_;
  const int64_t index_;
  const float eps_;
};

} // namespace

DecoderLayer load_decoder_layer(
    const WeightSource& source,
    const DecoderShape& shape,
    int64_t index) {
  const Loader loader(source, shape, index);
  const bool mixed =
      !shape.mixed.empty() && shape.mixed[static_cast<size_t>(index)];
  return {
      .qkv = loader.qkv(),
      .heads = loader.heads(),
      .output = loader.output(),
      .feed_forward = mixed ? FeedForward() : loader.feed_forward(),
      .experts = mixed ? loader.experts() : Experts()};
}

std::vector<float> load_norm(
    const WeightSource& source,
    const DecoderShape& shape,
    const std::string& name,
    int64_t n) {
  std::vector<float> weight = source.vector(name, n);
  for (float& value : weight) {
    value += shape.norms_less_one ? 1.0f : 0.0f;
  }
  return weight;
}

} // namespace holdfast
