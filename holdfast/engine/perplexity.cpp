// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/perplexity.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/engine/forward.h"
#include "holdfast/engine/sampler.h"

namespace holdfast {

namespace {

// Logits of a step: 16 rows of a vocabulary of 262 144 are 16 MiB, which the
// next step finds again; more would be new pages every time.
constexpr int64_t kScoredAtOnce = 16;

void require(bool condition, const std::string& text) {
  if (!condition) {
    throw Error(ErrorCode::kInvalidArgument, "[perplexity] expected " + text);
  }
}

/// A row for the length of a window.
class WindowRow {
 public:
  explicit WindowRow(State& state) : state_(state), id_(state.add_row()) {}
  ~WindowRow() {
    state_.remove_row(id_);
  }
  WindowRow(const WindowRow&) = delete;
  WindowRow& operator=(const WindowRow&) = delete;

  RowId id() const {
    return id_;
  }

 private:
  State& state_;
  const RowId id_;
};

} // namespace

Perplexity perplexity(
    const Model& model,
    State& state,
    const Tokenizer& tokenizer,
    std::span<const int32_t> tokens,
    const PerplexityOptions& options) {
  const int64_t size = options.window;
  require(
      size >= 4, "a window of at least 4 tokens, got " + std::to_string(size));
  require(
      options.chunk >= 1,
      "a chunk of at least 1, got " + std::to_string(options.chunk));
  const int64_t windows = std::ssize(tokens) / size;
  require(
      windows >= 1,
      "a text of at least " + std::to_string(size) +
          " tokens (a window), got " + std::to_string(tokens.size()));
  const int64_t first = size / 2; // its logits score the token after it
  Sampler sampler({.temperature = 0}, model.config().vocab, options.path);
  Perplexity result;
  double sum = 0;
  for (int64_t w = 0; w < windows; ++w) {
    const auto original = tokens.subspan(
        static_cast<size_t>(w * size), static_cast<size_t>(size));
    std::vector<int32_t> window(original.begin(), original.end());
    if (tokenizer.add_bos()) {
      window[0] = tokenizer.bos();
    }
    const WindowRow row(state);
    for (int64_t at = 0; at < size - 1;) {
      const bool scored = at >= first;
      const int64_t most =
          at + std::min(options.chunk, state.max_append(row.id()));
      const int64_t end = scored
          ? std::min({at + kScoredAtOnce, most, size - 1})
          : std::min(most, first);
      const RowTokens part{
          row.id(),
          std::span(window).subspan(
              static_cast<size_t>(at), static_cast<size_t>(end - at)),
          scored ? end - at : 0};
      const Logits logits = run_step(model, state, std::span(&part, 1));
      for (int64_t i = 0; i < part.outputs; ++i) {
        const int32_t next = window[static_cast<size_t>(at + i + 1)];
        sum -= sampler.logprobs(logits.row(i), next, 0).chosen.logprob;
      }
      at = end;
    }
    ++result.windows;
    result.tokens += size - 1 - first;
    result.nll = sum / static_cast<double>(result.tokens);
    result.ppl = std::exp(result.nll);
    if (options.progress) {
      options.progress(result, windows);
    }
  }
  return result;
}

} // namespace holdfast
