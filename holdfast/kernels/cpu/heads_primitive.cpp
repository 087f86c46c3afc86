// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

class SplitHeadsPrimitive : public mx::Primitive {
 public:
  SplitHeadsPrimitive(
      std::shared_ptr<const HeadsLayer> layer,
      const Place& place)
      : Primitive(place.stream),
        layer_(std::move(layer)),
        runtime_(place.runtime) {}

  void eval_cpu(
      const std::vector<mx::array>& inputs,
      std::vector<mx::array>& outputs) override {
    require_contiguous(inputs[0], "split_heads");
    require_contiguous(inputs[1], "split_heads");
    for (auto& output : outputs) {
      allocate_output(output);
    }
    SplitHeadsJob job{
        .qkv = inputs[0].data<float>(),
        .tokens = inputs[0].shape(0),
        .query_heads = layer_->query_heads,
        .kv_heads = layer_->kv_heads,
        .head_dim = layer_->head_dim,
        .query_norm = norm_of(layer_->query_norm, layer_->eps),
        .key_norm = norm_of(layer_->key_norm, layer_->eps),
        .value_norm = norm_of(layer_->value_norm, layer_->eps),
        .rope = layer_->rope,
        .positions = inputs[1].data<int32_t>(),
        .q = outputs[0].data<float>(),
        .k = outputs.size() > 1 ? outputs[1].data<float>() : nullptr,
        .v = outputs.size() > 1 ? outputs[2].data<float>() : nullptr,
        .gated = layer_->gated};
    mx::cpu::get_command_encoder(stream()).dispatch(
        [job, layer = layer_, runtime = runtime_] {
          split_heads(job, *runtime.executor, runtime.path);
        });
  }

  void
  eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw Error(
        ErrorCode::kUnsupported,
        "[split_heads] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastSplitHeads";
  }

 private:
  std::shared_ptr<const HeadsLayer> layer_;
  Runtime runtime_;
};

class GateHeadsPrimitive : public mx::UnaryPrimitive {
 public:
  GateHeadsPrimitive(
      std::shared_ptr<const HeadsLayer> layer,
      const Place& place)
      : UnaryPrimitive(place.stream),
        layer_(std::move(layer)),
        runtime_(place.runtime) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    require_f32(inputs[0], "gate_heads");
    require_f32(inputs[1], "gate_heads");
    allocate_output(out);
    const GateHeadsJob job{
        .x = inputs[0].data<float>(),
        .qkv = inputs[1].data<float>(),
        .tokens = inputs[0].shape(0),
        .query_heads = layer_->query_heads,
        .head_dim = layer_->head_dim,
        .width = layer_->width(),
        .y = out.data<float>()};
    mx::cpu::get_command_encoder(stream()).dispatch([job, runtime = runtime_] {
      gate_heads(job, *runtime.executor, runtime.path);
    });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported,
        "[gate_heads] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastGateHeads";
  }

 private:
  std::shared_ptr<const HeadsLayer> layer_;
  Runtime runtime_;
};

class EmbedPrimitive : public mx::UnaryPrimitive {
 public:
  EmbedPrimitive(
      std::shared_ptr<const Weight> table,
      float scale,
      const Place& place)
      : UnaryPrimitive(place.stream),
        table_(std::move(table)),
        scale_(scale),
        runtime_(place.runtime) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    require_contiguous(inputs[0], "embed");
    allocate_output(out);
    const std::span<const int32_t> ids(
        inputs[0].data<int32_t>(), inputs[0].size());
    mx::cpu::get_command_encoder(stream()).dispatch([ids,
                                                     y = out.data<float>(),
                                                     table = table_,
                                                     scale = scale_,
                                                     runtime = runtime_] {
      embed(*table, ids, scale, y, *runtime.executor);
    });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[embed] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastEmbed";
  }

 private:
  std::shared_ptr<const Weight> table_;
  float scale_;
  Runtime runtime_;
};

void check(
    const HeadsLayer& layer,
    const mx::array& qkv,
    const mx::array& positions) {
  expect(
      qkv.dtype() == mx::float32 && qkv.ndim() == 2 &&
          qkv.shape(1) == layer.width(),
      "[split_heads] expected qkv [T, (Hq + 2 Hkv) * D] float32");
  expect(
      positions.dtype() == mx::int32 && positions.ndim() == 1 &&
          positions.shape(0) == qkv.shape(0),
      "[split_heads] expected positions [T] int32");
}

} // namespace

std::array<mx::array, 3> split_heads(
    const std::shared_ptr<const HeadsLayer>& layer,
    const mx::array& qkv,
    const mx::array& positions,
    const Place& place) {
  check(*layer, qkv, positions);
  const int tokens = qkv.shape(0);
  const auto dim = static_cast<int>(layer->head_dim);
  const mx::Shape q{tokens, static_cast<int>(layer->query_heads), dim};
  const mx::Shape kv{tokens, static_cast<int>(layer->kv_heads), dim};
  auto out = mx::array::make_arrays(
      {q, kv, kv},
      {mx::float32, mx::float32, mx::float32},
      std::make_shared<SplitHeadsPrimitive>(layer, place),
      {qkv, positions});
  return {out[0], out[1], out[2]};
}

mx::array split_queries(
    const std::shared_ptr<const HeadsLayer>& layer,
    const mx::array& q,
    const mx::array& positions,
    const Place& place) {
  check(*layer, q, positions);
  expect(
      layer->kv_heads == 0,
      "[split_queries] expected a layer without key-value heads");
  const mx::Shape shape{
      q.shape(0),
      static_cast<int>(layer->query_heads),
      static_cast<int>(layer->head_dim)};
  return mx::array::make_arrays(
      {shape},
      {mx::float32},
      std::make_shared<SplitHeadsPrimitive>(layer, place),
      {q, positions})[0];
}

mx::array gate_heads(
    const std::shared_ptr<const HeadsLayer>& layer,
    const mx::array& x,
    const mx::array& qkv,
    const Place& place) {
  const auto width = static_cast<int>(layer->query_heads * layer->head_dim);
  expect(
      layer->gated && x.ndim() >= 2 && qkv.ndim() == 2 &&
          x.shape(0) == qkv.shape(0) && qkv.shape(1) == layer->width() &&
          static_cast<int64_t>(x.size()) == int64_t{x.shape(0)} * width,
      "[gate_heads] expected x [T, Hq, D] and qkv [T, width] of gated queries");
  return mx::array(
      mx::Shape{x.shape(0), width},
      mx::float32,
      std::make_shared<GateHeadsPrimitive>(layer, place),
      {x, qkv});
}

mx::array embed(
    const std::shared_ptr<const Weight>& table,
    const mx::array& ids,
    float scale,
    const Place& place) {
  expect(
      ids.ndim() == 1 && ids.dtype() == mx::int32,
      "[embed] expected ids [T] int32");
  return mx::array(
      mx::Shape{ids.shape(0), static_cast<int>(table->k())},
      mx::float32,
      std::make_shared<EmbedPrimitive>(table, scale, place),
      {ids});
}

} // namespace holdfast::cpu
