// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Perplexity of a text over windows that do not overlap: each window's first
// token is replaced by BOS (where the file puts one), and the second half is
// scored, so that every scored token has at least half a window before it.
// Threads: the state's engine thread.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "holdfast/formats/tokenizer.h"
#include "holdfast/models/model.h"
#include "holdfast/state/state.h"

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
  /// After each window: what is known, and how many windows there are.
  std::function<void(const Perplexity& so_far, int64_t windows)> progress = {};
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
