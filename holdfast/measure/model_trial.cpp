// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/measure/model_trial.h"

#include <algorithm>
#include <span>

#include "holdfast/engine/forward.h"
#include "holdfast/engine/sampling.h"
#include "holdfast/measure/seconds.h"

namespace holdfast::measure {

TrialRows::~TrialRows() {
  for (const RowId id : ids_) {
    state_.remove_row(id);
  }
}

ModelTrial::ModelTrial(const Model& model, State& state, const ModelLoad& load)
    : model_(model), state_(state), load_(load), deep_(state) {
  for (int64_t i = 0; i < (load_.shared ? 1 : load_.rows); ++i) {
    deep_.add(state_.add_row());
  }
  feed(deep_, load_.depth);
  decode(1); // the first step touches memory that later ones find warm
}

double ModelTrial::prefill(int64_t tokens) {
  TrialRows rows(state_);
  fork_into(rows);
  return time_of([&] { feed(rows, tokens); });
}

double ModelTrial::decode(int64_t tokens) {
  TrialRows rows(state_);
  fork_into(rows);
  return time_of([&] {
    std::vector<int32_t> next(rows.ids().size());
    for (int64_t i = 0; i < tokens; ++i) {
      std::vector<RowTokens> parts;
      for (size_t r = 0; r < next.size(); ++r) {
        next[r] = random_token();
        parts.push_back({rows.ids()[r], std::span(next).subspan(r, 1), 1});
      }
      run_step(model_, state_, parts);
    }
  });
}

void ModelTrial::fork_into(TrialRows& rows) {
  const auto& deep = deep_.ids();
  for (size_t i = 0; i < static_cast<size_t>(load_.rows); ++i) {
    rows.add(state_.fork_row(deep[i % deep.size()]));
  }
}

int32_t ModelTrial::random_token() {
  return static_cast<int32_t>(
      uniform_at(0, drawn_++) * static_cast<double>(model_.config().vocab));
}

void ModelTrial::feed(const TrialRows& rows, int64_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::generate(tokens.begin(), tokens.end(), [&] { return random_token(); });
  std::vector<RowTokens> parts;
  int64_t room = load_.chunk;
  for (const RowId id : rows.ids()) {
    for (int64_t at = 0; at < count;) {
      const int64_t take = std::min({room, count - at, state_.max_append(id)});
      const auto part = std::span(tokens).subspan(
          static_cast<size_t>(at), static_cast<size_t>(take));
      at += take;
      room -= take;
      parts.push_back({id, part, at == count ? 1 : 0});
      if (room == 0 || at < count) { // a row once in a step
        run_step(model_, state_, parts);
        parts.clear();
        room = load_.chunk;
      }
    }
  }
  if (!parts.empty()) {
    run_step(model_, state_, parts);
  }
}

} // namespace holdfast::measure
