// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What State, its siblings and Step share. Private to state/. Engine thread
// only.

#pragma once

#include <optional>

#include "holdfast/attend/read.h"
#include "holdfast/block/pool.h"
#include "holdfast/plan/chains.h"
#include "holdfast/plan/group.h"
#include "holdfast/plan/transaction.h"
#include "holdfast/recurrent/recur.h"
#include "holdfast/state/state.h"
#include "holdfast/state/step.h"
#include "holdfast/state/view_runs.h"

namespace holdfast {

/// What siblings share: all but the rows.
struct StateCore {
  explicit StateCore(StateOptions given);

  const StateOptions options;
  const LayerGroups groups;
  BlockPool pool;
  const mlx::core::Stream stream;
  // [layer], each: where the layer is of that kind, else null.
  std::vector<std::shared_ptr<const LayerRead>> layers;
  std::vector<Selection> reads;
  std::vector<std::shared_ptr<const RecurrentLayer>> recurrent;
  std::vector<bool> donors; // [layer]: another layer reads its state
  // The open steps of all siblings, for the operations of their graphs.
  const std::shared_ptr<PlanCell> cell = std::make_shared<PlanCell>();
  std::shared_ptr<const Signature> signature;
};

struct State::Impl {
  explicit Impl(std::shared_ptr<StateCore> of);
  ~Impl();
  /// To stand around whatever changes or drops a row.
  RowsChange rows_change() {
    return {views, chains, core->stream};
  }

  const std::shared_ptr<StateCore> core;
  Chains chains;
  ViewRuns views;
};

struct Step::Impl {
  Impl(std::shared_ptr<State::Impl> of, std::span<const RowAppend> rows);

  /// A conversion works on the executor, which whatever was left to evaluate of
  /// earlier steps may use: it waits for that.
  static Transaction begin(State::Impl& state, std::span<const RowAppend> rows);
  /// Waits for the task at work, so that none writes after the end, and drops
  /// what tasks of this step failed with.
  void settle() noexcept;
  /// From here on nothing of this step's graph runs.
  void end() noexcept;
  /// Lets go of the arrays of this step.
  void forget() noexcept;
  void require_open() const;
  /// Throws unless the step is open and the layer's turn has not been: the
  /// layer's index.
  size_t require_turn(LayerIndex layer, const char* where) const;
  StateCore& core() const {
    return *state->core;
  }

  const std::shared_ptr<State::Impl> state;
  Transaction transaction;
  const std::shared_ptr<StepRun> run;
  const cpu::StepHandle handle;
  const mlx::core::array positions;
  std::optional<mlx::core::array> tokens; // once asked for
  std::vector<bool> attended; // [layer]
  std::vector<std::optional<mlx::core::array>> outputs; // [layer], of donors
  std::optional<mlx::core::array> last; // output of the last layer so far
};

} // namespace holdfast
