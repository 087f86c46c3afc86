// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chooses one sequence's tokens from its logits.
//
// The order: penalties, top-k, top-p, min-p, temperature, draw. Top-p and min-p
// thus judge the distribution before the temperature flattens it. The draw uses
// uniform_at(seed, position), so a choice depends on the logits, the tokens
// seen, the seed and the position alone: not on the batch, nor on a restart.
// Equal logits: the lower id goes first.
//
// Threads: one at a time; different samplers are independent.

#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "holdfast/engine/sampling.h"
#include "holdfast/env/cpu.h"

namespace holdfast {

class Sampler {
 public:
  /// Throws kInvalidArgument as SamplingOptions::validate does.
  Sampler(const SamplingOptions& options, int64_t vocab, KernelPath path);

  /// Counts a token of the sequence, prompt or generated, for the penalties.
  void observe(int32_t token);
  /// The token at `position`, the sequence's tokens before it. logits: [vocab];
  /// throws kInternal where none is finite.
  int32_t sample(std::span<const float> logits, int64_t position);
  /// Natural logarithms of the raw logits' softmax: of `id` and of the `top`
  /// most likely tokens.
  TokenLogprobs
  logprobs(std::span<const float> logits, int32_t id, int64_t top);

 private:
  struct Candidate {
    float logit;
    int32_t id;
    float weight; // exp(scale * (logit - max)) of the last weigh_candidates
  };
  static bool before(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  }

  std::span<const float> penalise(std::span<const float> logits);
  void find_maximum(std::span<const float> logits);
  int32_t first_maximum(std::span<const float> logits) const;
  void collect(std::span<const float> logits, float threshold);
  void keep_top_k(std::span<const float> logits, int64_t k);
  void keep_top_p(std::span<const float> logits);
  void cut_top_p(double target);
  void keep_min_p(std::span<const float> logits);
  double weigh(std::span<const float> logits, float scale);
  int32_t draw_any(std::span<const float> logits, double u);
  int32_t draw_candidate(double u);
  double weigh_candidates(float scale);
  float inverse_temperature() const;

  SamplingOptions options_;
  int64_t vocab_;
  KernelPath path_;
  std::unordered_map<int32_t, int64_t> seen_;
  float max_ = 0.0f;
  std::vector<float> penalised_; // [vocab], where penalties act
  std::vector<float> maxima_; // [blocks]
  std::vector<float> sums_; // [blocks]
  std::vector<float> ordered_; // [blocks], scratch of keep_top_k
  std::vector<int32_t> found_; // [vocab], scratch of collect
  std::vector<float> weights_; // of candidates or of a block
  std::vector<double> masses_; // [buckets], scratch of cut_top_p
  std::vector<Candidate> candidates_;
};

} // namespace holdfast
