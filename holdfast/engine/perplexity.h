// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How well a model predicts a text: the mean negative log-likelihood of the
// scored tokens (scored_text.h) and its exponential.
// Threads: the state's engine thread.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "holdfast/engine/scored_text.h"

namespace holdfast {

struct Perplexity {
  double ppl = 0; // exp(nll)
  double nll = 0; // mean over the scored tokens, natural logarithm
  int64_t tokens = 0; // scored
  int64_t windows = 0;
};

struct PerplexityOptions {
  int64_t window = 512; // tokens, at least 4
  int64_t chunk = 512; // most tokens in one step
  KernelPath path = KernelPath::kPlain;
  /// After each window: how many are done, and how many there are.
  std::function<void(int64_t done, int64_t windows)> progress = {};

  ScoredText
  text(const Tokenizer& tokenizer, std::span<const int32_t> tokens) const;
};

/// tokens: the whole text, BOS included. What fills no window is left out.
/// Throws kInvalidArgument where there is not one window.
Perplexity perplexity(
    const Model& model,
    State& state,
    const Tokenizer& tokenizer,
    std::span<const int32_t> tokens,
    const PerplexityOptions& options);

} // namespace holdfast
