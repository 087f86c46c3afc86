// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

class LinearPrimitive : public mx::UnaryPrimitive {
 public:
  /// Which inputs these are, behind x; 0: none.
  struct Inputs {
    size_t residual = 0;
    size_t added = 0;
  };

  LinearPrimitive(
      std::shared_ptr<const LinearLayer> layer,
      const Place& place,
      Inputs which)
      : UnaryPrimitive(place.stream),
        layer_(std::move(layer)),
        runtime_(place.runtime),
        which_(which) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    for (const auto& input : inputs) {
      require_f32(input, "linear");
    }
    allocate_output(out);
    const auto input = [&](size_t index) {
      return index == 0 ? nullptr : inputs[index].data<float>();
    };
    LinearJob job{
        .x = inputs[0].data<float>(),
        .m = inputs[0].shape(0),
        .norm = norm_of(layer_->norm, layer_->eps),
        .weights = {},
        .scales = layer_->scales,
        .bias = layer_->bias.empty() ? nullptr : layer_->bias.data(),
        .added = input(which_.added),
        .gate = layer_->gate,
        .post_norm = norm_of(layer_->post_norm, layer_->eps),
        .residual = input(which_.residual),
        .y = out.data<float>()};
    auto& encoder = mx::cpu::get_command_encoder(stream());
    encoder.dispatch([job, layer = layer_, runtime = runtime_]() mutable {
      std::vector<const Weight*> weights;
      for (const auto& weight : layer->weights) {
        weights.push_back(weight.get());
      }
      job.weights = weights;
      linear(job, *runtime.executor, runtime.path);
    });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[linear] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastLinear";
  }

 private:
  std::shared_ptr<const LinearLayer> layer_;
  Runtime runtime_;
  Inputs which_;
};

} // namespace

int64_t LinearLayer::columns() const {
  int64_t n = 0;
  for (const auto& weight : weights) {
    n += weight->n();
  }
  return n;
}

int64_t LinearLayer::n() const {
  return gate == Gate::kNone ? columns() : columns() / 2;
}

int64_t LinearLayer::k() const {
  return weights.front()->k();
}

mx::array linear(
    const std::shared_ptr<const LinearLayer>& layer,
    const mx::array& x,
    const std::optional<mx::array>& residual,
    const Place& place) {
  expect(
      x.ndim() >= 2 &&
          static_cast<int64_t>(x.size()) == int64_t{x.shape(0)} * layer->k(),
      "[linear] expected x [M, k] with the weights' k");
  expect(
      layer->bias.empty() || std::ssize(layer->bias) == layer->columns(),
      "[linear] expected a bias for each row of the weights");
  std::vector<mx::array> inputs{x};
  LinearPrimitive::Inputs which;
  const mx::Shape shape{x.shape(0), static_cast<int>(layer->n())};
  if (residual) {
    expect(
        residual->shape() == shape,
        "[linear] expected a residual of the output's shape");
    which.residual = inputs.size();
    inputs.push_back(*residual);
  }
  if (layer->up) {
    expect(
        layer->up->n() == layer->columns(),
        "[linear] expected an addend for each row of the weights");
    const auto low = linear(layer->down, x, std::nullopt, place);
    inputs.push_back(linear(layer->up, low, std::nullopt, place));
    // Exact products take it as the residual, whose sum is the same.
    const bool exact = layer->weights.front()->format().exact;
    expect(!exact || !residual, "[linear] expected no residual beside it");
    (exact ? which.residual : which.added) = inputs.size() - 1;
  }
  return mx::array(
      shape,
      mx::float32,
      std::make_shared<LinearPrimitive>(layer, place, which),
      std::move(inputs));
}

} // namespace holdfast::cpu
