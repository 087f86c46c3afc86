// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A sequence of a generating call with its row, which it leaves at the latest
// when destroyed. Internal to engine/. Threads: the state's engine thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "holdfast/engine/generate.h"
#include "holdfast/engine/sequence.h"

namespace holdfast {

class GenerateRow {
 public:
  using Clock = std::chrono::steady_clock;

  /// The row begins with what the generator's cache knows of the sequence's
  /// tokens; one that is finished has none. The generator outlives it.
  GenerateRow(const Generator& generator, Sequence begun);
  ~GenerateRow();
  GenerateRow(const GenerateRow&) = delete;
  GenerateRow& operator=(const GenerateRow&) = delete;

  RowId id() const {
    return *id_;
  }
  /// Says that they were committed.
  void grew(std::span<const int32_t> tokens);
  /// Where stored images of its row were cut short (State::intact), it leaves
  /// that row and begins another with what is known: true then. False where
  /// there is nothing of that, or it had begun anew and fed nothing since.
  bool begin_anew();
  /// What its row holds, where there is a cache; nothing once it left.
  std::span<const int32_t> committed() const;
  /// Gives the row's state to whoever comes next, and leaves.
  void finish();
  void leave();
  /// With the rates of this call.
  Generation take_result(Clock::time_point begun);

  Sequence sequence;
  Clock::time_point fed; // its first token began
  Clock::time_point first; // its first choice
  Clock::time_point last;

 private:
  std::optional<RowId> begin();
  void keep();

  const Generator& generator_;
  State& state_;
  PrefixCache* const cache_;
  std::vector<int32_t> committed_; // where there is a cache
  int64_t computed_ = 0; // tokens to feed before the first choice
  bool anew_ = false; // and nothing was fed since
  std::optional<RowId> id_; // nothing once it left
};

using GenerateRows = std::vector<std::unique_ptr<GenerateRow>>;

} // namespace holdfast
