// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a step's primitives check while they run. A graph may be evaluated late,
// after its step has ended: then it must throw, not write into a newer step.
// And it may be evaluated again after a failure: what has failed stays so.
//
// Threads: the stream's thread works; the engine thread ends a run, and waits
// for the layer at work.

#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/plan/step_memo.h"
#include "holdfast/plan/step_plan.h"

namespace holdfast {

class StepRun {
 public:
  /// ended: what an array says that is evaluated after end().
  StepRun(
      std::shared_ptr<const StepPlan> plan,
      int64_t layers,
      const char* ended =
          "[step] expected an array of the open step, got one "
          "of an ended step")
      : plan_(std::move(plan)), ended_text_(ended), done_(layers) {}

  const StepPlan& plan() const {
    return *plan_;
  }
  /// What follows from the plan.
  StepMemo& memo() {
    return memo_;
  }
  /// Throws kStale after end(), or once a layer has failed, with its text.
  void require_live() const {
    expect(!ended_.load(), ended_text_, ErrorCode::kStale);
    if (failed_.load()) {
      throw Error(
          ErrorCode::kStale,
          "[step] expected a step of which no layer failed, got one that "
          "failed: " +
              text_);
    }
  }
  /// What each task ends with, from its first on: it throws where what the task
  /// read means nothing, and then the layer has failed.
  void check_after(std::function<void()> check) {
    check_ = std::move(check);
  }
  /// A layer's task: runs `task`, which writes its keys, values and output.
  /// Throws what it throws, and as require_live(); then the layer has failed.
  void work(int64_t layer, const auto& task) {
    const std::lock_guard lock(at_work_);
    require_live();
    try {
      task();
      if (check_) {
        check_();
      }
    } catch (const std::exception& error) {
      text_ = error.what();
      failure_ = std::current_exception();
      failed_.store(true);
      throw;
    }
    done_[layer].store(true);
  }
  /// Throws what the layer that failed threw, if one did: whoever waits on the
  /// stream, which steps of sibling states share, may have met it or not.
  void rethrow_failure() const {
    if (failed_.load()) {
      std::rethrow_exception(failure_);
    }
  }
  /// A layer's keys and values are all written, and its output is.
  bool finished(int64_t layer) const {
    return done_[layer].load();
  }
  /// From here on no task uses the step's blocks.
  void end() {
    const std::lock_guard lock(at_work_);
    ended_.store(true);
  }

 private:
  const std::shared_ptr<const StepPlan> plan_;
  const char* const ended_text_;
  std::function<void()> check_; // none: nothing
  StepMemo memo_;
  std::mutex at_work_; // tasks of one stream never meet: uncontended
  std::string text_; // written once, before failed_
  std::exception_ptr failure_; // likewise
  std::atomic<bool> failed_{false};
  std::atomic<bool> ended_{false};
  std::vector<std::atomic<bool>> done_;
};

} // namespace holdfast
