// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/sampling.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "holdfast/base/status.h"

namespace holdfast {

namespace {

void require(bool in_range, const char* option, const char* range, double got) {
  if (!in_range) {
    char value[32];
    std::snprintf(value, sizeof value, "%g", got);
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[sampling] expected ") + option + " " + range + ", got " +
            value);
  }
}

/// A bijection of 64-bit numbers whose output bits each depend on all input
/// bits: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

} // namespace

void SamplingOptions::validate() const {
  // A comparison with NaN is false, so NaN is refused everywhere.
  require(
      temperature >= 0.0 && temperature <= 1e6,
      "temperature",
      "in [0, 1000000]",
      temperature);
  require(
      top_k >= 0,
      "top-k",
      "of at least 0 (0: all)",
      static_cast<double>(top_k));
  require(top_p > 0.0 && top_p <= 1.0, "top-p", "in (0, 1]", top_p);
  require(min_p >= 0.0 && min_p <= 1.0, "min-p", "in [0, 1]", min_p);
  require(
      repeat_penalty >= 1e-6 && repeat_penalty <= 1e6,
      "repeat-penalty",
      "in [0.000001, 1000000] (1: none)",
      repeat_penalty);
  require(
      std::abs(presence_penalty) <= 1e6,
      "presence-penalty",
      "in [-1000000, 1000000]",
      presence_penalty);
  require(
      std::abs(frequency_penalty) <= 1e6,
      "frequency-penalty",
      "in [-1000000, 1000000]",
      frequency_penalty);
}

double uniform_at(uint64_t seed, int64_t index) {
  const uint64_t golden = 0x9e3779b97f4a7c15u; // 2^64 / golden ratio, odd
  const uint64_t stream = mix(seed + golden);
  const uint64_t bits =
      mix(stream + golden * (static_cast<uint64_t>(index) + 1));
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace holdfast
