// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/perplexity.h"

#include <cmath>

#include "holdfast/engine/sampler.h"

namespace holdfast {

ScoredText PerplexityOptions::text(
    const Tokenizer& tokenizer,
    std::span<const int32_t> tokens) const {
  return {
      .tokens = tokens,
      .first = first_token(tokenizer),
      .window = window,
      .chunk = chunk};
}

Perplexity perplexity(
    const Model& model,
    State& state,
    const Tokenizer& tokenizer,
    std::span<const int32_t> tokens,
    const PerplexityOptions& options) {
  const ScoredText text = options.text(tokenizer, tokens);
  Sampler sampler({.temperature = 0}, model.config().vocab, options.path);
  Perplexity result;
  double sum = 0;
  const auto score = [&](size_t, const Logits& logits, auto next) {
    for (int64_t i = 0; i < std::ssize(next); ++i) {
      const int32_t token = next[static_cast<size_t>(i)];
      sum -= sampler.logprobs(logits.row(i), token, 0).chosen.logprob;
      ++result.tokens;
    }
  };
  const auto done = [&](int64_t windows) {
    if (options.progress) {
      options.progress(windows, text.windows());
    }
  };
  State* const states[] = {&state};
  score_text(model, states, text, {.score = score, .window_done = done});
  result.windows = text.windows();
  result.nll = sum / static_cast<double>(result.tokens);
  result.ppl = std::exp(result.nll);
  return result;
}

} // namespace holdfast
