// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's speed over random tokens: prompts in chunks, and rows that decode
// one token a step, behind tokens that are there already. Threads: the engine
// thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/models/model.h"
#include "holdfast/state/state.h"

namespace holdfast::measure {

struct ModelLoad {
  int64_t depth = 0; // tokens of a row that are there before
  int64_t rows = 1;
  bool shared = false; // the rows are forks of one
  int64_t chunk = 512;
};

/// Rows that leave the state with it.
class TrialRows {
 public:
  explicit TrialRows(State& state) : state_(state) {}
  ~TrialRows();
  TrialRows(const TrialRows&) = delete;
  TrialRows& operator=(const TrialRows&) = delete;

  void add(RowId id) {
    ids_.push_back(id);
  }
  const std::vector<RowId>& ids() const {
    return ids_;
  }

 private:
  State& state_;
  std::vector<RowId> ids_;
};

class ModelTrial {
 public:
  /// Computes the depth, and a step that touches memory. The model and the
  /// state outlive this.
  ModelTrial(const Model& model, State& state, const ModelLoad& load);

  /// Seconds that prompts of so many tokens take, one a row.
  double prefill(int64_t tokens);
  /// Seconds of so many steps.
  double decode(int64_t tokens);

 private:
  void fork_into(TrialRows& rows);
  int32_t random_token();
  /// `count` tokens to each row, several rows to a chunk where they fit.
  void feed(const TrialRows& rows, int64_t count);

  const Model& model_;
  State& state_;
  const ModelLoad load_;
  TrialRows deep_;
  int64_t drawn_ = 0;
};

} // namespace holdfast::measure
