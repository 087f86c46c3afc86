// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/attend/read.h"
#include "holdfast/kernels/cpu/latent.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class LatentPrimitive : public mx::UnaryPrimitive {
 public:
  LatentPrimitive(
      mx::Stream stream,
      std::shared_ptr<const LayerRead> layer,
      std::shared_ptr<StepRun> run)
      : UnaryPrimitive(stream),
        layer_(std::move(layer)),
        run_(std::move(run)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    run_->require_live();
    const bool own = !layer_->spec.donor; // inputs: q, k, v; else q, source
    for (size_t i = 0; i < (own ? 3 : 1); ++i) {
      cpu::require_f32(inputs[i], "attend");
    }
    cpu::allocate_output(out);
    const StepPlan& plan = run_->plan();
    const cpu::LatentJob job{
        .spec = &layer_->spec,
        .phases = layer_->phases,
        .layer = layer_->layer_in_group,
        .rows = plan.rows,
        .blocks = plan.groups[static_cast<size_t>(layer_->group)],
        .q = inputs[0].data<float>(),
        .k = own ? inputs[1].data<float>() : nullptr,
        .v = own ? inputs[2].data<float>() : nullptr,
        .out = out.data<float>()};
    mx::cpu::get_command_encoder(stream()).dispatch(
        [job, layer = layer_, run = run_] {
          run->work(layer->layer, [&] {
            cpu::append_and_attend_latent(
                job, *layer->runtime.executor, layer->runtime.path);
          });
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[attend] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastLatent";
  }

 private:
  std::shared_ptr<const LayerRead> layer_;
  std::shared_ptr<StepRun> run_;
};

class LatentRead : public Read {
 public:
  std::string name() const override {
    return "latent.1";
  }

  Status supports(const LayerRead& layer) const override {
    return cpu::supports_latent(layer.spec);
  }

  mx::array attend(
      const std::shared_ptr<const LayerRead>& layer,
      const std::shared_ptr<StepRun>& run,
      const Qkv& inputs,
      mx::Stream stream) const override {
    return make(layer, run, {inputs.q, inputs.k, inputs.v}, stream);
  }

  mx::array attend_donor(
      const std::shared_ptr<const LayerRead>& layer,
      const std::shared_ptr<StepRun>& run,
      const Queries& inputs,
      mx::Stream stream) const override {
    return make(layer, run, {inputs.q, inputs.source}, stream);
  }

 private:
  static mx::array make(
      const std::shared_ptr<const LayerRead>& layer,
      const std::shared_ptr<StepRun>& run,
      std::vector<mx::array> inputs,
      mx::Stream stream) {
    mx::Shape shape = inputs[0].shape();
    shape[2] = static_cast<int>(layer->spec.value_dim);
    return mx::array(
        std::move(shape),
        mx::float32,
        std::make_shared<LatentPrimitive>(stream, layer, run),
        std::move(inputs));
  }
};

} // namespace

const Read& latent_read() {
  static const LatentRead read;
  return read;
}

} // namespace holdfast
