// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How the next token is chosen, as values; docs/cli.md documents the options
// and the order in which they act. Values; any thread.

#pragma once

#include <cstdint>
#include <vector>

namespace holdfast {

struct SamplingOptions {
  double temperature = 0.8; // 0: always the most likely token
  int64_t top_k = 0; // keep the k most likely; 0: all
  double top_p = 1.0; // keep the fewest that hold this probability; 1: all
  double min_p = 0.0; // drop those below this part of the most likely; 0: none
  double repeat_penalty =
      1.0; // logits of tokens seen, divided (> 0) or multiplied
  double presence_penalty = 0.0; // subtracted once from tokens seen
  double frequency_penalty = 0.0; // subtracted for each time a token was seen
  uint64_t seed = 0;

  /// Throws kInvalidArgument naming the option, its range and the value.
  void validate() const;
  bool penalises() const {
    return repeat_penalty != 1.0 || presence_penalty != 0.0 ||
        frequency_penalty != 0.0;
  }
};

struct TokenLogprob {
  int32_t id = 0;
  double logprob = 0.0;
};

/// A chosen token and the most likely ones, by the raw logits.
struct TokenLogprobs {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top; // most likely first; equal ones by lower id
};

/// A number in [0, 1) that depends on its arguments alone.
double uniform_at(uint64_t seed, int64_t index);

} // namespace holdfast
