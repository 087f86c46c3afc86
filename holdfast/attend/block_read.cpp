// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "holdfast/attend/kernel_read.h"
#include "holdfast/kernels/cpu/attend.h"
#include "holdfast/kernels/cpu/attend_plan.h"

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
      StepRun& run,
      const LayerArrays& arrays) const override {
    const StepPlan& plan = run.plan();
    std::vector<cpu::AttendJob> jobs; // one a phase: a job has two codecs
    const auto add = [&](int64_t phase, auto& rows, auto& blocks) {
      const GroupPhase& of = layer.phases[phase];
      cpu::AttendJob job{
          .spec = &layer.spec,
          .keys = of.keys,
          .values = of.values,
          .layout = &of.layout,
          .layer = layer.layer_in_group,
          .rows = rows,
          .blocks = blocks,
          .q = arrays.q,
          .k = arrays.k,
          .v = arrays.v,
          .out = arrays.out};
      job.plan = &planned(layer, phase, job, run.memo());
      jobs.push_back(job);
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

 private:
  /// How a group's rows of one phase are cut into work, what they share
  /// included.
  struct Planned {
    int64_t group = 0;
    int64_t phase = 0;
    cpu::AttendCut cut;
    cpu::AttendPlan plan;
  };

  static const cpu::AttendPlan& planned(
      const LayerRead& layer,
      int64_t phase,
      const cpu::AttendJob& job,
      StepMemo& memo) {
    const cpu::AttendCut cut =
        cpu::attend_cut(job, layer.runtime.executor->threads());
    return memo
        .get<Planned>(
            [&](const Planned& made) {
              return made.group == layer.group && made.phase == phase &&
                  made.cut == cut;
            },
            [&] {
              return Planned{
                  layer.group, phase, cut, cpu::plan_attend(job, cut)};
            })
        .plan;
  }
};

} // namespace

const Read& block_read() {
  static const BlockRead read;
  return read;
}

} // namespace holdfast
