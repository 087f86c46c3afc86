// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a layer's operation takes of its step, and how its task gets on the
// stream.
//
// A task that fails leaves its error with the stream, and the tasks behind it
// still run, on memory that nobody wrote. So a layer first asks the stream:
// what failed before it, in whichever part of the graph, fails its step too.
//
// Threads: the engine thread; the task runs on the stream's.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mlx/array.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/scheduler.h"
#include "mlx/stream.h"

#include "holdfast/plan/plan_cell.h"
#include "holdfast/plan/step_run.h"

namespace holdfast::cpu {

/// The step in which an operation is made.
struct StepHandle {
  std::shared_ptr<const PlanCell> cell;
  std::shared_ptr<StepRun> run;
  mlx::core::array slot; // [1] uint64, the last input of the operation
};

/// The step for which an operation with these inputs works now. Throws kStale.
inline const std::shared_ptr<StepRun>&
step_of(const PlanCell& cell, const std::vector<mlx::core::array>& inputs) {
  return cell.find(*inputs.back().data<uint64_t>());
}

/// `task` owns what it uses; run->work() calls it.
void dispatch_layer(
    mlx::core::Stream stream,
    std::shared_ptr<StepRun> run,
    int64_t layer,
    auto task) {
  mlx::core::cpu::get_command_encoder(stream).dispatch(
      [stream, run = std::move(run), layer, task = std::move(task)] {
        run->work(layer, [&] {
          mlx::core::scheduler::check_error(stream); // throws, and clears it
          task();
        });
      });
}

} // namespace holdfast::cpu
