// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"
#include "holdfast/env/cpu.h"
#include "holdfast/kernels/cpu/elementwise.h"
#include "tests/random_values.h"

namespace holdfast::cpu {
namespace {

using holdfast::test::random_values;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The order that the header states, in scalars.
std::vector<float>
by_definition(const std::vector<float>& x, const RmsNorm& norm) {
  float lanes[16] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    lanes[i % 16] = std::fma(x[i], x[i], lanes[i % 16]);
  }
  for (int apart = 8; apart > 0; apart /= 2) {
    for (int i = 0; i < apart; ++i) {
      lanes[i] += lanes[i + apart];
    }
  }
  const float mean = lanes[0] / static_cast<float>(x.size());
  const float scale = 1.0f / std::sqrt(mean + norm.eps);
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = x[i] * scale * norm.weight[i];
  }
  return y;
}

class NormOn : public testing::TestWithParam<KernelPath> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam())) {
      GTEST_SKIP() << "not on this processor";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(
    Paths,
    NormOn,
    testing::ValuesIn(kKernelPaths),
    [](const auto& info) { return std::string(name(info.param)); });

TEST_P(NormOn, AddsInTheStatedOrderAtAnyWidth) {
  for (int64_t width = 1; width <= 70; ++width) {
    const auto x = random_values(width, 1);
    const auto weight = random_values(width, 2);
    const RmsNorm norm{.weight = weight.data(), .eps = 1e-6f};
    std::vector<float> y(width);
    rms_norm(x.data(), 1, width, norm, y.data(), GetParam());
    ASSERT_TRUE(same_bits(y, by_definition(x, norm))) << width;
  }
}

TEST_P(NormOn, IsCloseToTheExactNorm) {
  for (const int64_t width : {640, 1000, 4096}) {
    const auto x = random_values(width, 3);
    const auto weight = random_values(width, 4);
    const RmsNorm norm{.weight = weight.data(), .eps = 1e-5f};
    std::vector<float> y(width);
    rms_norm(x.data(), 1, width, norm, y.data(), GetParam());
    double sum = 0.0;
    for (const float value : x) {
      sum += double{value} * value;
    }
    const double scale =
        1.0 / std::sqrt(sum / static_cast<double>(width) + 1e-5);
    for (int64_t i = 0; i < width; ++i) {
      const double right = x[i] * scale * weight[i];
      ASSERT_NEAR(y[i], right, 1e-6 * std::abs(right) + 1e-12);
    }
  }
}

TEST_P(NormOn, ATokensBitsDependOnItAlone) {
  constexpr int64_t kTokens = 9;
  constexpr int64_t kWidth = 643;
  const auto x = random_values(kTokens * kWidth, 5);
  const auto weight = random_values(kWidth, 6);
  const RmsNorm norm{.weight = weight.data()};
  std::vector<float> together(x.size());
  rms_norm(x.data(), kTokens, kWidth, norm, together.data(), GetParam());
  std::vector<float> alone(x.size());
  for (int64_t t = 0; t < kTokens; ++t) {
    rms_norm(
        x.data() + t * kWidth,
        1,
        kWidth,
        norm,
        alone.data() + t * kWidth,
        GetParam());
  }
  EXPECT_TRUE(same_bits(together, alone));
  std::vector<float> in_place = x;
  rms_norm(in_place.data(), kTokens, kWidth, norm, in_place.data(), GetParam());
  EXPECT_TRUE(same_bits(together, in_place));
}

TEST_P(NormOn, OfZerosIsZeroAndOfNoWeightTheInput) {
  const std::vector<float> weight(20, 3.0f);
  const RmsNorm norm{.weight = weight.data(), .eps = 1e-6f};
  const std::vector<float> zeros(20, 0.0f);
  std::vector<float> y(20, 7.0f);
  rms_norm(zeros.data(), 1, 20, norm, y.data(), GetParam());
  EXPECT_TRUE(same_bits(y, zeros));
  const auto x = random_values(20, 8);
  rms_norm(x.data(), 1, 20, RmsNorm{}, y.data(), GetParam());
  EXPECT_TRUE(same_bits(y, x));
}

TEST(Norm, RefusesNoWidth) {
  float x = 1.0f;
  EXPECT_THROW(rms_norm(&x, 1, 0, RmsNorm{}, &x, KernelPath::kPlain), Error);
  EXPECT_THROW(rms_norm(&x, -1, 1, RmsNorm{}, &x, KernelPath::kPlain), Error);
}

} // namespace
} // namespace holdfast::cpu
