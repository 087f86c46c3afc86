// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a step's primitives check while they run. A graph may be evaluated late,
// after its step has ended: then it must throw, not write into a newer step.
//
// Threads: the engine thread ends a run; the stream's thread checks it.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast {

class StepRun {
 public:
  StepRun(std::shared_ptr<const StepPlan> plan, int64_t layers)
      : plan_(std::move(plan)), done_(layers) {}

  const StepPlan& plan() const {
    return *plan_;
  }
  /// Throws kStale after end().
  void require_live() const {
    expect(
        live_.load(),
        "[step] expected an array of the open step, got one of an ended step",
        ErrorCode::kStale);
  }
  /// A layer's keys and values are all written, and its output is.
  void finish(int64_t layer) {
    done_[layer].store(true);
  }
  bool finished(int64_t layer) const {
    return done_[layer].load();
  }
  void end() {
    live_.store(false);
  }

 private:
  const std::shared_ptr<const StepPlan> plan_;
  std::atomic<bool> live_{true};
  std::vector<std::atomic<bool>> done_;
};

} // namespace holdfast
