// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/scored_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "holdfast/base/status.h"

namespace holdfast {

namespace {

// Logits of a step: 16 rows of a vocabulary of 262 144 are 16 MiB, which the
// next step finds again; more would be new pages every time.
constexpr int64_t kScoredAtOnce = 16;

void require(bool condition, const std::string& text) {
  if (!condition) {
    throw Error(ErrorCode::kInvalidArgument, "[eval] expected " + text);
  }
}

/// A row of each state for the length of a window.
class WindowRows {
 public:
  explicit WindowRows(std::span<State* const> states) : states_(states) {
    for (State* state : states_) {
      ids_.push_back(state->add_row());
    }
  }
  ~WindowRows() {
    for (size_t i = 0; i < ids_.size(); ++i) {
      states_[i]->remove_row(ids_[i]);
    }
  }
  WindowRows(const WindowRows&) = delete;
  WindowRows& operator=(const WindowRows&) = delete;

  RowId id(size_t state) const {
    return ids_[state];
  }
  /// The most tokens that every state takes in its next step.
  int64_t max_append() const {
    int64_t most = states_[0]->max_append(ids_[0]);
    for (size_t i = 1; i < ids_.size(); ++i) {
      most = std::min(most, states_[i]->max_append(ids_[i]));
    }
    return most;
  }

 private:
  std::span<State* const> states_;
  std::vector<RowId> ids_;
};

void score_window(
    const Model& model,
    std::span<State* const> states,
    std::span<const int32_t> window,
    int64_t chunk,
    const ScoreHooks& hooks) {
  const int64_t size = std::ssize(window);
  const int64_t first = size / 2; // its logits score the token after it
  const WindowRows rows(states);
  for (int64_t at = 0; at < size - 1;) {
    const bool scored = at >= first;
    const int64_t most = at + std::min(chunk, rows.max_append());
    const int64_t end = scored ? std::min({at + kScoredAtOnce, most, size - 1})
                               : std::min(most, first);
    const auto from = static_cast<size_t>(at);
    const auto count = static_cast<size_t>(end - at);
    for (size_t i = 0; i < states.size(); ++i) {
      const RowTokens part{
          rows.id(i), window.subspan(from, count), scored ? end - at : 0};
      const Logits logits = run_step(model, *states[i], std::span(&part, 1));
      if (scored) {
        hooks.score(i, logits, window.subspan(from + 1, count));
      }
    }
    at = end;
  }
}

} // namespace

void ScoredText::validate() const {
  require(
      window >= 4,
      "a window of at least 4 tokens, got " + std::to_string(window));
  require(chunk >= 1, "a chunk of at least 1, got " + std::to_string(chunk));
  require(
      windows() >= 1,
      "a text of at least " + std::to_string(window) +
          " tokens (a window), got " + std::to_string(tokens.size()));
}

std::optional<int32_t> first_token(const Tokenizer& tokenizer) {
  if (!tokenizer.add_bos()) {
    return std::nullopt;
  }
  return tokenizer.bos();
}

void score_text(
    const Model& model,
    std::span<State* const> states,
    const ScoredText& text,
    const ScoreHooks& hooks) {
  text.validate();
  require(!states.empty(), "at least one state");
  const auto size = static_cast<size_t>(text.window);
  for (int64_t w = 0; w < text.windows(); ++w) {
    const auto original =
        text.tokens.subspan(static_cast<size_t>(w) * size, size);
    std::vector<int32_t> window(original.begin(), original.end());
    window[0] = text.first.value_or(window[0]);
    score_window(model, states, window, text.chunk, hooks);
    if (hooks.window_done) {
      hooks.window_done(w + 1);
    }
  }
}

} // namespace holdfast
