// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "holdfast/kernels/cpu/elementwise_lanes.h"

namespace holdfast::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kLeastNormal = std::numeric_limits<float>::min();

float apply(LaneFunction function, float x) {
  float y = 0.0f;
  plain_lanes().map(function, &x, 1, &y);
  return y;
}

double sigmoid_of(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double gelu_of(double x) {
  const double u =
      std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(u));
}

/// The largest error in units of the last place of f32, over every 40,009th f32
/// in [low, high] whose result is a normal number.
double worst_ulps(
    LaneFunction function,
    double (*reference)(double),
    float low,
    float high) {
  double worst = 0.0;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 40009) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!(x >= low && x <= high)) {
      continue;
    }
    const double right = reference(x);
    if (std::abs(right) < kLeastNormal) {
      continue;
    }
    const double ulp = std::ldexp(1.0, std::ilogb(right) - 23);
    worst = std::max(worst, std::abs(apply(function, x) - right) / ulp);
  }
  return worst;
}

TEST(Math, ExponentialIsRightToOneUlp) {
  EXPECT_LE(worst_ulps(LaneFunction::kExp, std::exp, -87.33f, 88.72f), 1.0);
  EXPECT_LE(
      worst_ulps(LaneFunction::kExpNonpositive, std::exp, -87.33f, 87.0f), 1.0);
}

TEST(Math, TanhIsRightToTwoUlps) {
  EXPECT_LE(worst_ulps(LaneFunction::kTanh, std::tanh, -1e30f, 1e30f), 2.0);
}

TEST(Math, GatesAreRightToTheBoundsOfTheHeader) {
  EXPECT_LE(
      worst_ulps(LaneFunction::kSigmoid, sigmoid_of, -87.33f, 1e30f), 4.0);
  EXPECT_LE(
      worst_ulps(
          LaneFunction::kSilu,
          [](double x) { return x * sigmoid_of(x); },
          -87.33f,
          1e30f),
      4.0);
  EXPECT_LE(worst_ulps(LaneFunction::kGelu, gelu_of, -3.0f, 1e30f), 16.0);
  for (float x = -12.0f; x <= -3.0f; x += 0x1p-10f) {
    ASSERT_NEAR(apply(LaneFunction::kGelu, x), gelu_of(x), 1e-7) << x;
  }
}

TEST(Math, ExponentialsAreNeverSubnormal) {
  for (const auto function :
       {LaneFunction::kExp, LaneFunction::kExpNonpositive}) {
    for (float x = -87.0f; x >= -104.0f; x -= 0x1p-12f) {
      const float y = apply(function, x);
      ASSERT_TRUE(y == 0.0f || y >= kLeastNormal) << x;
      ASSERT_EQ(y == 0.0f, x < -87.33f) << x;
    }
  }
}

TEST(Math, ExponentialHasItsLimits) {
  for (const auto function :
       {LaneFunction::kExp, LaneFunction::kExpNonpositive}) {
    EXPECT_EQ(apply(function, -kInf), 0.0f);
    EXPECT_EQ(apply(function, -1e38f), 0.0f);
    EXPECT_EQ(apply(function, 0.0f), 1.0f);
    EXPECT_EQ(apply(function, -0.0f), 1.0f);
    EXPECT_EQ(apply(function, 1e-45f), 1.0f);
    EXPECT_TRUE(std::isnan(apply(function, kNan)));
    EXPECT_TRUE(std::isnan(apply(function, -kNan)));
  }
  EXPECT_EQ(apply(LaneFunction::kExp, kInf), kInf);
  EXPECT_EQ(apply(LaneFunction::kExp, 88.73f), kInf);
  EXPECT_EQ(apply(LaneFunction::kExp, 3e38f), kInf);
  EXPECT_LT(apply(LaneFunction::kExp, 88.72f), kInf);
}

TEST(Math, TanhHasItsLimits) {
  EXPECT_EQ(apply(LaneFunction::kTanh, kInf), 1.0f);
  EXPECT_EQ(apply(LaneFunction::kTanh, -kInf), -1.0f);
  EXPECT_TRUE(std::signbit(apply(LaneFunction::kTanh, -0.0f)));
  EXPECT_FALSE(std::signbit(apply(LaneFunction::kTanh, 0.0f)));
  EXPECT_TRUE(std::isnan(apply(LaneFunction::kTanh, kNan)));
}

TEST(Math, GatesVanishFarBelowZeroAndAreTheIdentityFarAbove) {
  for (const auto function : {LaneFunction::kSilu, LaneFunction::kGelu}) {
    for (const float x : {-kInf, -3e38f, -1000.0f, -100.5f}) {
      EXPECT_EQ(apply(function, x), 0.0f) << x;
      EXPECT_TRUE(std::signbit(apply(function, x))) << x;
    }
    for (const float x : {100.0f, 1e20f, 3e38f, kInf}) {
      EXPECT_EQ(apply(function, x), x);
    }
    EXPECT_EQ(apply(function, 0.0f), 0.0f);
    EXPECT_TRUE(std::isnan(apply(function, kNan)));
  }
  EXPECT_EQ(apply(LaneFunction::kSigmoid, -kInf), 0.0f);
  EXPECT_EQ(apply(LaneFunction::kSigmoid, kInf), 1.0f);
  EXPECT_EQ(apply(LaneFunction::kSigmoid, 0.0f), 0.5f);
}

TEST(Math, IsMonotonousWhereAttentionUsesIt) {
  float last = 0.0f;
  for (float x = -90.0f; x <= 0.0f; x += 0x1p-11f) {
    const float y = apply(LaneFunction::kExpNonpositive, x);
    ASSERT_GE(y, last) << x;
    last = y;
  }
}

} // namespace
} // namespace holdfast::cpu
