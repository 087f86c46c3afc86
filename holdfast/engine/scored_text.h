// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a text through a model in windows that do not overlap, and hands out the
// logits of each window's second half: every scored token has at least half a
// window before it. Several states may run side by side.
// Threads: the states' engine thread.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "holdfast/engine/forward.h"
#include "holdfast/formats/tokenizer.h"
#include "holdfast/models/model.h"
#include "holdfast/state/state.h"

namespace holdfast {

/// What fills no window is left out.
struct ScoredText {
  std::span<const int32_t> tokens; // the whole text, BOS included
  std::optional<int32_t> first; // replaces each window's first token: BOS
  int64_t window = 512; // tokens, at least 4
  int64_t chunk = 512; // most tokens in one step

  int64_t windows() const {
    return std::ssize(tokens) / window;
  }
  int64_t scored() const { // tokens of a window
    return window - 1 - window / 2;
  }
  /// Throws kInvalidArgument where there is not one window.
  void validate() const;
};

/// BOS where the tokenizer's file puts one.
std::optional<int32_t> first_token(const Tokenizer& tokenizer);

struct ScoreHooks {
  /// The logits of a few positions and the tokens that follow them, of one
  /// state after the other, in the order of the states.
  std::function<
      void(size_t state, const Logits& logits, std::span<const int32_t> next)>
      score;
  std::function<void(int64_t done)> window_done = {};
};

/// The states' own rows are left alone. Throws as ScoredText::validate and
/// run_step do.
void score_text(
    const Model& model,
    std::span<State* const> states,
    const ScoredText& text,
    const ScoreHooks& hooks);

} // namespace holdfast
