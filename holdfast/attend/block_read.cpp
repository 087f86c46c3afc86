// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "holdfast/attend/kernel_read.h"
#include "holdfast/kernels/cpu/attend.h"

namespace holdfast {

namespace {

class BlockRead : public KernelRead {
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
      Status status = cpu::supports_attend(
          layer.spec, *phase.keys, *phase.values, layer.runtime.path);
      if (!status.ok()) {
        return status;
      }
    }
    return {};
  }

  const char* primitive_name() const override {
    return "HoldfastAttend";
  }

  std::function<void()> task(
      const LayerRead& layer,
      const StepPlan& plan,
      const LayerArrays& arrays) const override {
    std::vector<cpu::AttendJob> jobs; // one a phase: a job has two codecs
    const auto add = [&](int64_t phase, auto& rows, auto& blocks) {
      const GroupPhase& of = layer.phases[phase];
      jobs.push_back(
          {.spec = &layer.spec,
           .keys = of.keys,
           .values = of.values,
           .layout = &of.layout,
           .layer = layer.layer_in_group,
           .rows = rows,
           .blocks = blocks,
           .q = arrays.q,
           .k = arrays.k,
           .v = arrays.v,
           .out = arrays.out});
    };
    const auto& blocks = plan.groups[layer.group];
    if (plan.mixed[layer.group].empty()) {
      add(blocks[0].phase, plan.rows, blocks);
    }
    for (const PhaseRows& part : plan.mixed[layer.group]) {
      add(part.phase, part.rows, part.blocks);
    }
    return [jobs = std::move(jobs), &layer] {
      for (const cpu::AttendJob& job : jobs) {
        cpu::append_and_attend(
            job, *layer.runtime.executor, layer.runtime.path);
      }
    };
  }
};

} // namespace

const Read& block_read() {
  static const BlockRead read;
  return read;
}

} // namespace holdfast
