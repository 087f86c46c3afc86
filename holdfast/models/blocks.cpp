// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/models/blocks.h"

#include <iterator>
#include <optional>
#include <utility>

#include "mlx/ops.h"
#include "mlx/transforms.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

using WeightPtr = std::shared_ptr<const cpu::Weight>;

// Reads the tensors of one layer.
class LayerReader {
 public:
  LayerReader(const WeightSource& source, int64_t index)
      : source_(source), prefix_("blk." + std::to_string(index) + ".") {}

  WeightPtr matrix(const std::string& name, int64_t n, int64_t k) const {
    return std::make_shared<const cpu::Weight>(
        source_.matrix(prefix_ + name + ".weight", n, k));
  }
  std::vector<float> norm(const std::string& name, int64_t n) const {
    return name.empty() ? std::vector<float>()
                        : source_.vector(prefix_ + name + ".weight", n);
  }

 private:
  const WeightSource& source_;
  const std::string prefix_;
};

std::shared_ptr<const cpu::LinearLayer> linear_layer(
    std::vector<WeightPtr> weights,
    std::vector<float> norm,
    std::vector<float> post_norm,
    float eps,
    cpu::Gate gate = cpu::Gate::kNone) {
  return std::make_shared<const cpu::LinearLayer>(cpu::LinearLayer{
      .weights = std::move(weights),
      .norm = std::move(norm),
      .post_norm = std::move(post_norm),
      .eps = eps,
      .gate = gate});
}

} // namespace

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
  const LayerReader reader(source, index);
  DecoderLayer layer;
  layer.qkv = linear_layer(
      {reader.matrix("attn_q", query_width, hidden),
       reader.matrix("attn_k", kv_width, hidden),
       reader.matrix("attn_v", kv_width, hidden)},
      reader.norm(norms.attention, hidden),
      {},
      eps);
  layer.heads = std::make_shared<const cpu::HeadsLayer>(cpu::HeadsLayer{
      .query_heads = config.query_heads,
      .kv_heads = config.kv_heads,
      .head_dim = config.head_dim,
      .query_norm = reader.norm(norms.query, config.head_dim),
      .key_norm = reader.norm(norms.key, config.head_dim),
      .eps = eps,
      .rope = rope});
  layer.output = linear_layer(
      {reader.matrix("attn_output", hidden, query_width)},
      {},
      reader.norm(norms.post_attention, hidden),
      eps);
  layer.gate_up = linear_layer(
      {reader.matrix("ffn_gate", config.ffn, hidden),
       reader.matrix("ffn_up", config.ffn, hidden)},
      reader.norm(norms.feed_forward, hidden),
      {},
      eps,
      gate);
  layer.down = linear_layer(
      {reader.matrix("ffn_down", hidden, config.ffn)},
      {},
      reader.norm(norms.post_feed_forward, hidden),
      eps);
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
  const auto flat = mx::reshape(
      read, {x.shape(0), static_cast<int>(layer.output->k())}, place.stream);
  const auto h = cpu::linear(layer.output, flat, x, place);
  const auto gated = cpu::linear(layer.gate_up, h, std::nullopt, place);
  return cpu::linear(layer.down, gated, h, place);
}

mx::array embed_tokens(
    const std::shared_ptr<const cpu::Weight>& table,
    std::span<const int32_t> tokens,
    float scale,
    const Step& step,
    const cpu::Place& place) {
  expect(
      std::ssize(tokens) == step.tokens(),
      "[model] expected as many tokens as the step has");
  const mx::array ids(
      tokens.data(), mx::Shape{static_cast<int>(tokens.size())}, mx::int32);
  return cpu::embed(table, ids, scale, place);
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
  Bytes total{0};
  for (const auto* part :
       {&layer.qkv, &layer.output, &layer.gate_up, &layer.down}) {
    for (const auto& weight : (*part)->weights) {
      total += weight->bytes();
    }
  }
  return total;
}

} // namespace holdfast
