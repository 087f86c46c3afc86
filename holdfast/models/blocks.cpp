// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/blocks.h"

#include <iterator>
#include <optional>
#include <utility>

#include "mlx/ops.h"
#include "mlx/transforms.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace mx = mlx::core;

DecoderLayer load_decoder_layer(
    const WeightSource& source,
    int64_t index,
    const LayerNorms& norms,
    cpu::Gate gate,
    const cpu::Rope& rope) {
  const ModelConfig& config = source.config();
  const auto eps = static_cast<float>(config.norm_eps);
  const int64_t hidden = config.hidden;
  const int64_t query_width = config.query_heads * config.head_dim;
  const int64_t kv_width = config.kv_heads * config.head_dim;
  const auto name = [&](const std::string& tensor) {
    return "blk." + std::to_string(index) + "." + tensor + ".weight";
  };
  const auto norm = [&](const std::string& tensor, int64_t n) {
    return tensor.empty() ? std::vector<float>()
                          : source.vector(name(tensor), n);
  };
  DecoderLayer layer;
  layer.qkv = load_linear(
      source,
      {{name("attn_q"), query_width},
       {name("attn_k"), kv_width},
       {name("attn_v"), kv_width}},
      {.k = hidden, .norm = norm(norms.attention, hidden), .eps = eps});
  layer.heads = std::make_shared<const cpu::HeadsLayer>(cpu::HeadsLayer{
      .query_heads = config.query_heads,
      .kv_heads = config.kv_heads,
      .head_dim = config.head_dim,
      .query_norm = norm(norms.query, config.head_dim),
      .key_norm = norm(norms.key, config.head_dim),
      .eps = eps,
      .rope = rope});
  layer.output = load_linear(
      source,
      {{name("attn_output"), hidden}},
      {.k = query_width,
       .post_norm = norm(norms.post_attention, hidden),
       .eps = eps});
  layer.feed_forward = load_feed_forward(
      source,
      {.gate = name("ffn_gate"),
       .up = name("ffn_up"),
       .down = name("ffn_down"),
       .hidden = hidden,
       .ffn = config.ffn,
       .norm = norm(norms.feed_forward, hidden),
       .post_norm = norm(norms.post_feed_forward, hidden),
       .eps = eps,
       .activation = gate});
  return layer;
}

mx::array run_decoder_layer(
    const DecoderLayer& layer,
    LayerIndex index,
    const mx::array& x,
    Step& step,
    const cpu::Place& place) {
  const auto qkv = cpu::linear(layer.qkv, x, std::nullopt, place);
  const auto [q, k, v] =
      cpu::split_heads(layer.heads, qkv, step.positions(), place);
  const auto read = step.attend(index, q, k, v);
  const auto h = cpu::linear(layer.output, read, x, place);
  return layer.experts.mix ? run_experts(layer.experts, h, place)
                           : run_feed_forward(layer.feed_forward, h, place);
}

mx::array embed_tokens(
    const std::shared_ptr<const cpu::Weight>& table,
    std::span<const int32_t> tokens,
    float scale,
    const Step& step,
    const cpu::Place& place) {
  return cpu::embed(table, step.token_ids(tokens), scale, place);
}

void evaluate_long_chunk(const Step& step, const mx::array& x) {
  constexpr int64_t kLongChunk = 64;
  if (step.tokens() >= kLongChunk) {
    mx::eval({x});
  }
}

mx::array take_rows(
    const mx::array& x,
    std::span<const int32_t> rows,
    const cpu::Place& place) {
  bool all = std::ssize(rows) == x.shape(0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= x.shape(0)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "[model] expected outputs of tokens below " +
              std::to_string(x.shape(0)) + ", got " + std::to_string(rows[i]));
    }
    all = all && static_cast<size_t>(rows[i]) == i;
  }
  if (all) {
    return x;
  }
  const mx::array indices(
      rows.data(), mx::Shape{static_cast<int>(rows.size())}, mx::int32);
  return mx::take(x, indices, 0, place.stream);
}

Bytes weight_bytes(const DecoderLayer& layer) {
  return weight_bytes(*layer.qkv) + weight_bytes(*layer.output) +
      (layer.experts.mix ? weight_bytes(layer.experts)
                         : weight_bytes(layer.feed_forward));
}

} // namespace holdfast
