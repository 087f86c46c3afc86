// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where the operations of a graph find the step they work for. An operation
// holds the cell, and takes the step's slot as an input: so one graph serves
// every step of its layout, and an array of a step that has ended finds none.
//
// Invariant: a slot names one step of the process and none after it.
// Threads: the engine thread alone.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/plan/step_run.h"

namespace holdfast {

class PlanCell {
 public:
  void open(std::shared_ptr<StepRun> run) {
    runs_.push_back(std::move(run));
  }
  void close(uint64_t slot) noexcept {
    std::erase_if(runs_, [&](const auto& run) { return is(*run, slot); });
  }
  /// The open step of that slot. Throws kStale where it has ended, or failed.
  const std::shared_ptr<StepRun>& find(uint64_t slot) const {
    const auto run =
        std::find_if(runs_.begin(), runs_.end(), [&](const auto& open) {
          return is(*open, slot);
        });
    expect(
        run != runs_.end(),
        "[step] expected an array of the open step, got one of an ended step",
        ErrorCode::kStale);
    (*run)->require_live();
    return *run;
  }

 private:
  static bool is(const StepRun& run, uint64_t slot) {
    return run.plan().generation == slot;
  }
  std::vector<std::shared_ptr<StepRun>> runs_; // as many as siblings step
};

} // namespace holdfast
