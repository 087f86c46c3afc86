// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Normal numbers of a seed, the same in every run.

#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace holdfast::test {

inline std::vector<float> random_values(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

} // namespace holdfast::test
