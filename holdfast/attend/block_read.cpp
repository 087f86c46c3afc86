// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"

#include "holdfast/attend/read.h"
#include "holdfast/kernels/cpu/attend.h"
#include "holdfast/kernels/cpu/output.h"

namespace holdfast {

namespace {

namespace mx = mlx::core;

class AttendPrimitive : public mx::UnaryPrimitive {
 public:
  AttendPrimitive(
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
    std::vector<cpu::AttendJob> jobs; // one a phase: a job has two codecs
    const auto add = [&](int64_t phase, auto& rows, auto& blocks) {
      const GroupPhase& of = layer_->phases[phase];
      jobs.push_back(
          {.spec = &layer_->spec,
           .keys = of.keys,
           .values = of.values,
           .layout = &of.layout,
           .layer = layer_->layer_in_group,
           .rows = rows,
           .blocks = blocks,
           .q = inputs[0].data<float>(),
           .k = own ? inputs[1].data<float>() : nullptr,
           .v = own ? inputs[2].data<float>() : nullptr,
           .out = out.data<float>()});
    };
    const auto& blocks = plan.groups[layer_->group];
    if (plan.mixed[layer_->group].empty()) {
      add(blocks[0].phase, plan.rows, blocks);
    }
    for (const PhaseRows& part : plan.mixed[layer_->group]) {
      add(part.phase, part.rows, part.blocks);
    }
    mx::cpu::get_command_encoder(stream()).dispatch(
        [jobs = std::move(jobs), layer = layer_, run = run_] {
          run->work(layer->layer, [&] {
            for (const cpu::AttendJob& job : jobs) {
              cpu::append_and_attend(
                  job, *layer->runtime.executor, layer->runtime.path);
            }
          });
        });
  }

  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw Error(
        ErrorCode::kUnsupported, "[attend] expected a CPU stream, got a GPU");
  }

  const char* name() const override {
    return "HoldfastAttend";
  }

 private:
  std::shared_ptr<const LayerRead> layer_;
  std::shared_ptr<StepRun> run_;
};

class BlockRead : public Read {
 public:
  std::string name() const override {
    return "blocks.1";
  }

  Status supports(const LayerRead& layer) const override {
    if (layer.spec.latent) {
      return {
          ErrorCode::kUnsupported,
          "expected keys apart from values, got a latent"};
    }
    for (const GroupPhase& phase : layer.phases) {
      const Status status = cpu::supports_attend(
          layer.spec, *phase.keys, *phase.values, layer.runtime.path);
      if (!status.ok()) {
        return status;
      }
    }
    return {};
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
        std::make_shared<AttendPrimitive>(stream, layer, run),
        std::move(inputs));
  }
};

} // namespace

const Read& block_read() {
  static const BlockRead read;
  return read;
}

} // namespace holdfast
