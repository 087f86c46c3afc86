// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/attend/kernel_read.h"
#include "holdfast/kernels/cpu/latent.h"

namespace holdfast {

namespace {

class LatentRead : public KernelRead {
 public:
  std::string name() const override {
    return "latent.1";
  }

  Status supports(const LayerRead& layer) const override {
    return cpu::supports_latent(layer.spec);
  }

  const char* primitive_name() const override {
    return "HoldfastLatent";
  }

  std::function<void()> task(
      const LayerRead& layer,
      StepRun& run,
      const LayerArrays& arrays) const override {
    const StepPlan& plan = run.plan();
    const cpu::LatentJob job{
        .spec = &layer.spec,
        .phases = layer.phases,
        .layer = layer.layer_in_group,
        .rows = plan.rows,
        .blocks = plan.groups[static_cast<size_t>(layer.group)],
        .q = arrays.q,
        .k = arrays.k,
        .v = arrays.v,
        .out = arrays.out};
    return [job, &layer] {
      cpu::append_and_attend_latent(
          job, *layer.runtime.executor, layer.runtime.path);
    };
  }
};

} // namespace

const Read& latent_read() {
  static const LatentRead read;
  return read;
}

} // namespace holdfast
