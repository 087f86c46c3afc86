// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/ops.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast::cpu {

namespace {

namespace mx = mlx::core;

class ExpertsPrimitive : public mx::UnaryPrimitive {
 public:
  ExpertsPrimitive(
      std::shared_ptr<const ExpertsLayer> layer,
      const Place& place)
      : UnaryPrimitive(place.stream),
        layer_(std::move(layer)),
        runtime_(place.runtime) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    for (const auto& input : inputs) {
      require_f32(input, "mix_experts");
    }
    allocate_output(out);
    const ExpertsJob job{
        .x = inputs[0].data<float>(),
        .scores = inputs[1].data<float>(),
        .m = inputs[0].shape(0),
        .norm = norm_of(layer_->norm, layer_->eps),
        .experts = layer_->experts,
        .gate = layer_->gate,
        .top = layer_->top,
        .routing = layer_->routing,
        .y = out.data<float>()};
    mx::cpu::get_command_encoder(stream()).dispatch(
        [job, layer = layer_, runtime = runtime_] {
          mix_experts(job, *runtime.executor, runtime.path);
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported,
        "[mix_experts] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastExperts";
  }

 private:
  const std::shared_ptr<const ExpertsLayer> layer_;
  const Runtime runtime_;
};

} // namespace

mx::array mix_experts(
    const std::shared_ptr<const ExpertsLayer>& layer,
    const mx::array& x,
    const mx::array& scores,
    const Place& place) {
  const auto count = static_cast<int>(layer->experts.size());
  expect(
      count > 0 && x.ndim() == 2 && scores.ndim() == 2 &&
          x.shape(1) == static_cast<int>(layer->experts[0].gate.k()) &&
          scores.shape(0) == x.shape(0) && scores.shape(1) == count,
      "[mix_experts] expected x [M, k] with the experts' k and scores [M, "
      "experts]");
  return mx::array(
      x.shape(),
      mx::float32,
      std::make_shared<ExpertsPrimitive>(layer, place),
      {x, scores});
}

} // namespace holdfast::cpu
