// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/attend/kernel_read.h"

#include <utility>

#include "mlx/primitives.h"

#include "holdfast/kernels/cpu/layer_task.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class KernelPrimitive : public mx::UnaryPrimitive {
 public:
  KernelPrimitive(
      mx::Stream stream,
      const KernelRead& read,
      std::shared_ptr<const LayerRead> layer,
      std::shared_ptr<const PlanCell> cell)
      : UnaryPrimitive(stream),
        read_(read),
        layer_(std::move(layer)),
        cell_(std::move(cell)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    const std::shared_ptr<StepRun>& run = cpu::step_of(*cell_, inputs);
    const bool own =
        !layer_->spec.donor; // inputs: q, k, v, slot; else q, source, slot
    const auto data = [&](size_t i) -> const float* {
      return cpu::contiguous_f32(inputs[i], "attend", stream()).data<float>();
    };
    cpu::allocate_output(out);
    auto task = read_.task(
        *layer_,
        *run,
        {.q = data(0),
         .k = own ? data(1) : nullptr,
         .v = own ? data(2) : nullptr,
         .out = out.data<float>()});
    cpu::dispatch_layer(
        stream(), run, layer_->layer, [task = std::move(task), layer = layer_] {
          task();
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[attend] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return read_.primitive_name();
  }

 private:
  const KernelRead& read_;
  std::shared_ptr<const LayerRead> layer_;
  std::shared_ptr<const PlanCell> cell_;
};

} // namespace

mx::array KernelRead::attend(
    const std::shared_ptr<const LayerRead>& layer,
    const cpu::StepHandle& step,
    const Qkv& inputs,
    mx::Stream stream) const {
  return make(layer, step, {inputs.q, inputs.k, inputs.v}, stream);
}

mx::array KernelRead::attend_donor(
    const std::shared_ptr<const LayerRead>& layer,
    const cpu::StepHandle& step,
    const Queries& inputs,
    mx::Stream stream) const {
  return make(layer, step, {inputs.q, inputs.source}, stream);
}

mx::array KernelRead::make(
    const std::shared_ptr<const LayerRead>& layer,
    const cpu::StepHandle& step,
    std::vector<mx::array> inputs,
    mx::Stream stream) const {
  mx::Shape shape = inputs[0].shape();
  shape[2] = static_cast<int>(layer->spec.value_dim);
  inputs.push_back(step.slot);
  return mx::array(
      std::move(shape),
      mx::float32,
      std::make_shared<KernelPrimitive>(stream, *this, layer, step.cell),
      std::move(inputs));
}

} // namespace holdfast
