// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/divergence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/base/status.h"
#include "holdfast/kernels/cpu/sample.h"

namespace holdfast {

namespace {

[[noreturn]] void not_finite(double got) {
  throw Error(
      ErrorCode::kInternal,
      "[divergence] expected finite logits, got " + std::to_string(got));
}

/// sum of weight * (reference - other), in f64: 8 strided lanes, then what is
/// left.
double weighted_difference(
    std::span<const float> weights,
    std::span<const float> reference,
    std::span<const float> other) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  const auto term = [&](size_t i) {
    return static_cast<double>(weights[i]) *
        (static_cast<double>(reference[i]) - static_cast<double>(other[i]));
  };
  size_t i = 0;
  for (; i + kLanes <= weights.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(i + lane);
    }
  }
  for (; i < weights.size(); ++i) {
    lanes[0] += term(i);
  }
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

/// What a text's tokens add up to, for one state.
class Tally {
 public:
  void add(double nll) {
    sum_ += nll;
    ++tokens_;
  }
  void add(double nll, double divergence, bool same_top) {
    add(nll);
    divergences_.push_back(divergence);
    same_ += same_top ? 1 : 0;
  }

  Perplexity perplexity(int64_t windows) const {
    const double nll = sum_ / static_cast<double>(tokens_);
    return {std::exp(nll), nll, tokens_, windows};
  }
  Divergence divergence() const {
    std::vector<double> sorted = divergences_;
    std::sort(sorted.begin(), sorted.end());
    const auto count = static_cast<double>(sorted.size());
    const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    return {
        .mean = sum / count,
        .p999 = sorted[sorted.size() - 1 - sorted.size() / 1000],
        .max = sorted.back(),
        .same_top = static_cast<double>(same_) / count};
  }

 private:
  double sum_ = 0;
  int64_t tokens_ = 0;
  int64_t same_ = 0;
  std::vector<double> divergences_; // one a token
};

} // namespace

LogitShape LogitPairs::shape(std::span<const float> logits, float& max) {
  blocks_.resize(static_cast<size_t>(
      ceil_div(static_cast<int64_t>(logits.size()), cpu::kSampleBlock)));
  cpu::block_maxima(logits, blocks_.data(), path_);
  max = *std::max_element(blocks_.begin(), blocks_.end());
  if (!std::isfinite(max)) {
    not_finite(max);
  }
  const auto top = std::find(logits.begin(), logits.end(), max);
  cpu::block_exp_sums(logits, {.max = max}, blocks_.data(), path_);
  const double total = std::accumulate(blocks_.begin(), blocks_.end(), 0.0);
  return {std::log(total) + max, top - logits.begin()};
}

LogitShape LogitPairs::keep(int64_t index, std::span<const float> logits) {
  const auto at = static_cast<size_t>(index);
  if (kept_.size() <= at) {
    kept_.resize(at + 1);
  }
  Kept& kept = kept_[at];
  kept.shape = shape(logits, kept.max);
  kept.logits.assign(logits.begin(), logits.end());
  kept.weights.resize(logits.size());
  cpu::exp_weights(logits, {.max = kept.max}, kept.weights.data(), path_);
  return kept.shape;
}

LogitPairs::Pair
LogitPairs::compare(int64_t index, std::span<const float> logits) {
  expect(
      index >= 0 && index < std::ssize(kept_),
      "[divergence] expected a row that was kept");
  const Kept& kept = kept_[static_cast<size_t>(index)];
  expect(
      logits.size() == kept.logits.size(),
      "[divergence] expected rows of one length");
  Pair pair;
  float max = 0;
  pair.shape = shape(logits, max);
  // log p - log q = (reference - other) - (their log totals' difference); the
  // weights add up to exp(log total - max).
  const double total = std::exp(kept.shape.log_total - kept.max);
  const double divergence =
      weighted_difference(kept.weights, kept.logits, logits) / total -
      (kept.shape.log_total - pair.shape.log_total);
  if (!std::isfinite(divergence)) {
    not_finite(divergence);
  }
  pair.divergence = std::max(divergence, 0.0); // below 0 by rounding alone
  pair.same_top = pair.shape.top == kept.shape.top;
  return pair;
}

QualityReport compare_states(
    const Model& model,
    State& reference,
    std::span<State* const> states,
    const ScoredText& text,
    const CompareOptions& options) {
  std::vector<State*> all = {&reference};
  all.insert(all.end(), states.begin(), states.end());
  std::vector<Tally> tallies(all.size());
  LogitPairs pairs(options.path);
  const auto score = [&](size_t state, const Logits& logits, auto next) {
    Tally& tally = tallies[state];
    for (int64_t i = 0; i < std::ssize(next); ++i) {
      const auto row = logits.row(i);
      const double chosen =
          row[static_cast<size_t>(next[static_cast<size_t>(i)])];
      if (state == 0) {
        tally.add(pairs.keep(i, row).log_total - chosen);
      } else {
        const auto pair = pairs.compare(i, row);
        tally.add(
            pair.shape.log_total - chosen, pair.divergence, pair.same_top);
      }
    }
  };
  const auto done = [&](int64_t windows) {
    if (options.progress) {
      options.progress(windows, text.windows());
    }
  };
  score_text(model, all, text, {.score = score, .window_done = done});
  QualityReport report{tallies[0].perplexity(text.windows()), {}};
  for (size_t i = 1; i < tallies.size(); ++i) {
    report.states.push_back(
        {tallies[i].perplexity(text.windows()), tallies[i].divergence()});
  }
  return report;
}

} // namespace holdfast
