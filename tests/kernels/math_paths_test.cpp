// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/env/for_path.h"
#include "holdfast/kernels/cpu/elementwise_lanes.h"
#include "tests/kernel_paths.h"

namespace holdfast::cpu {
namespace {

constexpr LaneFunction kFunctions[] = {
    LaneFunction::kExp,
    LaneFunction::kExpNonpositive,
    LaneFunction::kTanh,
    LaneFunction::kSigmoid,
    LaneFunction::kSilu,
    LaneFunction::kGelu,
};

/// The same bits, or a NaN of any payload in both.
bool same(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
      (std::isnan(a) && std::isnan(b));
}

class MathPaths : public testing::TestWithParam<KernelPath> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam())) {
      GTEST_SKIP() << "not on this processor";
    }
  }
  const LaneTable& wide_lanes() const {
    return for_path<avx512_lanes, avx512_lanes, vec256_lanes, plain_lanes>(
        GetParam())();
  }
};

INSTANTIATE_TEST_SUITE_P(
    Paths,
    MathPaths,
    testing::ValuesIn(test::vector_paths()),
    [](const auto& info) { return std::string(name(info.param)); });

TEST_P(MathPaths, GiveTheSameBitsOverAllExponentsAndSigns) {
  constexpr int64_t kCount = 4096;
  std::vector<float> x(kCount);
  std::vector<float> plain(kCount);
  std::vector<float> wide(kCount);
  uint64_t bits = 0;
  while (bits <= 0xffffffffu) {
    for (auto& value : x) {
      value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      bits += 20011;
    }
    for (const auto function : kFunctions) {
      plain_lanes().map(function, x.data(), kCount, plain.data());
      wide_lanes().map(function, x.data(), kCount, wide.data());
      for (int64_t i = 0; i < kCount; ++i) {
        ASSERT_TRUE(same(plain[i], wide[i]))
            << static_cast<int>(function) << " of " << x[i] << ": " << plain[i]
            << " and " << wide[i];
      }
    }
  }
}

TEST_P(MathPaths, GiveTheSameBitsDenselyNearZeroAndTheFloor) {
  for (const float center :
       {-87.33f, -0.625f, 0.0f, 0.625f, 80.0f, 88.72284f}) {
    std::vector<float> x;
    for (int i = -2000; i <= 2000; ++i) {
      x.push_back(center + static_cast<float>(i) * 0x1p-18f);
      x.push_back(center + static_cast<float>(i) * 0x1p-9f);
    }
    std::vector<float> plain(x.size());
    std::vector<float> wide(x.size());
    for (const auto function : kFunctions) {
      const auto count = static_cast<int64_t>(x.size());
      plain_lanes().map(function, x.data(), count, plain.data());
      wide_lanes().map(function, x.data(), count, wide.data());
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(same(plain[i], wide[i])) << x[i];
      }
    }
  }
}

TEST_P(MathPaths, GiveTheSameAnglesAtAnyPosition) {
  std::mt19937 random(7);
  std::vector<double> turns(64);
  for (size_t i = 0; i < turns.size(); ++i) {
    turns[i] = std::pow(10000.0, -static_cast<double>(i) / 64.0) * 0.6366;
  }
  std::vector<float> cos(64), sin(64), wide_cos(64), wide_sin(64);
  for (int round = 0; round < 2000; ++round) {
    const double position = round < 64
        ? round
        : static_cast<double>(static_cast<int32_t>(random()));
    plain_lanes().angles(position, turns.data(), 64, cos.data(), sin.data());
    wide_lanes().angles(
        position, turns.data(), 64, wide_cos.data(), wide_sin.data());
    ASSERT_TRUE(std::ranges::equal(cos, wide_cos, same)) << position;
    ASSERT_TRUE(std::ranges::equal(sin, wide_sin, same)) << position;
  }
}

} // namespace
} // namespace holdfast::cpu
