// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/recurrent/recur.h"

#include <string>
#include <utility>

#include "mlx/primitives.h"

#include "holdfast/base/check.h"
#include "holdfast/kernels/cpu/layer_task.h"
#include "holdfast/kernels/cpu/output.h"
#include "holdfast/kernels/cpu/recurrent.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class RecurPrimitive : public mx::UnaryPrimitive {
 public:
  RecurPrimitive(
      mx::Stream stream,
      std::shared_ptr<const RecurrentLayer> layer,
      std::shared_ptr<const PlanCell> cell,
      std::shared_ptr<const cpu::GatedDelta> weights)
      : UnaryPrimitive(stream),
        layer_(std::move(layer)),
        cell_(std::move(cell)),
        weights_(std::move(weights)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    const std::shared_ptr<StepRun>& run = cpu::step_of(*cell_, inputs);
    const mx::array given = cpu::contiguous_f32(inputs[0], "recur", stream());
    cpu::allocate_output(out);
    const StepPlan& plan = run->plan();
    const cpu::RecurrentJob job{
        .layer = weights_.get(),
        .layout = &layer_->layout,
        .index = layer_->layer_in_group,
        .rows = plan.rows,
        .blocks = plan.groups[static_cast<size_t>(layer_->group)],
        .inputs = given.data<float>(),
        .out = out.data<float>()};
    cpu::dispatch_layer(
        stream(),
        run,
        layer_->layer,
        [job, layer = layer_, weights = weights_] {
          cpu::append_and_recur(
              job, *layer->runtime.executor, layer->runtime.path);
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[recur] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastRecur";
  }

 private:
  std::shared_ptr<const RecurrentLayer> layer_;
  std::shared_ptr<const PlanCell> cell_;
  std::shared_ptr<const cpu::GatedDelta> weights_;
};

} // namespace

mx::array recur(
    const std::shared_ptr<const RecurrentLayer>& layer,
    const cpu::StepHandle& step,
    const std::shared_ptr<const cpu::GatedDelta>& weights,
    const mx::array& inputs,
    mx::Stream stream) {
  const RecurrentSpec& spec = layer->spec;
  expect(
      weights != nullptr && weights->spec == spec,
      "[recur] expected weights of the layer's spec, got others");
  const auto tokens = static_cast<int>(step.run->plan().tokens);
  if (inputs.dtype() != mx::float32 || inputs.ndim() != 2 ||
      inputs.shape(0) != tokens || inputs.shape(1) != spec.input_width()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[recur] expected inputs [" + std::to_string(tokens) + ", " +
            std::to_string(spec.input_width()) +
            "] float32, got another shape or type");
  }
  return mx::array(
      mx::Shape{tokens, static_cast<int>(spec.output_width())},
      mx::float32,
      std::make_shared<RecurPrimitive>(stream, layer, step.cell, weights),
      {inputs, step.slot});
}

} // namespace holdfast
