// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What another precision of the state does to a model's predictions: for each
// scored token (scored_text.h) the Kullback-Leibler divergence of the
// distribution over the vocabulary from the one that a reference state gives,
// sum of p * (log p - log q) with p the reference's, in nats; and whether both
// find the same token most likely.
// Threads: the states' engine thread; LogitPairs: one at a time.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "holdfast/engine/perplexity.h"

namespace holdfast {

/// Over the scored tokens of a text.
struct Divergence {
  double mean = 0; // nats
  double p999 = 0; // no more than one token in a thousand has a larger one
  double max = 0;
  double same_top = 0; // part of the tokens, [0, 1]
};

/// A row of logits as a distribution.
struct LogitShape {
  double log_total = 0; // logarithm of the sum of the exponentials
  int64_t top = 0; // the first of the most likely tokens
};

/// Rows of reference logits, and how others differ from them.
class LogitPairs {
 public:
  explicit LogitPairs(KernelPath path) : path_(path) {}

  /// Keeps row `index` of the reference, in place of what it held. Throws
  /// kInternal where the largest logit is not finite, as compare() does.
  LogitShape keep(int64_t index, std::span<const float> logits);

  struct Pair {
    LogitShape shape; // of the other row
    double divergence = 0; // from the kept one: nats, at least 0
    bool same_top = false;
  };
  /// Compares a row with the kept one of that index, of the same length. Throws
  /// kInternal where a logit of either is not finite.
  Pair compare(int64_t index, std::span<const float> logits);

 private:
  struct Kept {
    std::vector<float> logits; // [vocab]
    std::vector<float> weights; // [vocab], exp(logit - max)
    float max = 0;
    LogitShape shape;
  };

  /// Sets `max` to the largest logit.
  LogitShape shape(std::span<const float> logits, float& max);

  KernelPath path_;
  std::vector<float> blocks_; // [blocks], scratch
  std::vector<Kept> kept_;
};

/// A state over the text, and its divergence from the reference.
struct StateQuality {
  Perplexity perplexity;
  Divergence divergence;
};
struct QualityReport {
  Perplexity reference;
  std::vector<StateQuality> states; // in the order given
};

struct CompareOptions {
  KernelPath path = KernelPath::kPlain;
  /// After each window.
  std::function<void(int64_t done, int64_t windows)> progress = {};
};

/// Runs every state beside the reference, so that its predictions are computed
/// once. Throws as score_text() does.
QualityReport compare_states(
    const Model& model,
    State& reference,
    std::span<State* const> states,
    const ScoredText& text,
    const CompareOptions& options);

} // namespace holdfast
