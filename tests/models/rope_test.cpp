// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Ropes out of settings, against the formulas of their papers; whole models
// are compared in oracle_test.cpp.

#include "holdfast/models/rope.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/settings_source.h"

namespace holdfast {
namespace {

using test::SettingMap;
using test::SettingsSource;

SettingsSource source(SettingMap settings, int64_t head = 64) {
  ModelConfig config;
  config.family = "llama";
  config.head_dim = head;
  config.context = 131072;
  return {config, std::move(settings)};
}

cpu::Rope rope(SettingMap settings) {
  return read_rope(source(std::move(settings)), 64, 10000.0);
}

SettingMap scaled(const char* type, SettingMap more = {}) {
  SettingMap all{
      {"rope_scaling", UnusableSetting()},
      {"rope_scaling.rope_type", std::string(type)},
      {"rope_scaling.factor", 8.0},
      {"rope_scaling.original_max_position_embeddings", int64_t{4096}}};
  for (auto& [name, value] : more) {
    all["rope_scaling." + name] = value;
  }
  return all;
}

std::string refusal(const SettingMap& settings) {
  try {
    rope(settings);
  } catch (const Error& error) {
    return std::string(error.what()) +
        (error.code() == ErrorCode::kUnsupported ? " (unsupported)" : "");
  }
  return "accepted";
}

TEST(Rope, IsPlainWithoutSettings) {
  const cpu::Rope plain = rope({});
  EXPECT_EQ(plain.dims, 64);
  EXPECT_EQ(plain.base, 10000.0f);
  EXPECT_EQ(plain.scale, 1.0f);
  EXPECT_EQ(plain.divisors, nullptr);
  EXPECT_EQ(plain.magnitude, 1.0f);
  EXPECT_EQ(rope({{"rope_theta", int64_t{500000}}}).base, 500000.0f);
  EXPECT_EQ(rope({{"rope_parameters.rope_theta", 5e5}}).base, 500000.0f);
}

TEST(Rope, DividesPositionsWhereScalingIsLinear) {
  EXPECT_EQ(rope(scaled("linear")).scale, 0.125f);
}

TEST(Rope, SlowsTheLongWavesOfLlama3AndLeavesTheShortOnes) {
  const cpu::Rope got = rope(scaled("llama3"));
  ASSERT_EQ(std::ssize(*got.divisors), 32);
  for (int i = 0; i < 32; ++i) {
    const double wave = 2.0 * std::numbers::pi * std::pow(10000.0, i / 32.0);
    const double smooth = (4096.0 / wave - 1.0) / 3.0;
    const double right = wave > 4096.0 ? 8.0
        : wave < 1024.0                ? 1.0
                                       : 1.0 / ((1.0 - smooth) / 8.0 + smooth);
    EXPECT_NEAR((*got.divisors)[i], right, 1e-9) << i;
  }
  EXPECT_GT((*got.divisors)[20], 1.0); // one between
  EXPECT_LT((*got.divisors)[20], 8.0);
}

double yarn_part(double i, double first, double last) {
  return std::clamp((i - first) / (last - first), 0.0, 1.0);
}

TEST(Rope, RampsYarnOverThePairsBetweenWholeOnesOrAsTheyAre) {
  const auto pair = [](double turns) {
    return 64.0 * std::log(4096.0 / (turns * 2.0 * std::numbers::pi)) /
        (2.0 * std::log(10000.0));
  };
  for (const bool whole : {true, false}) {
    const cpu::Rope got = rope(scaled("yarn", {{"truncate", whole}}));
    const double first = whole ? std::floor(pair(32.0)) : pair(32.0);
    const double last = whole ? std::ceil(pair(1.0)) : pair(1.0);
    for (int i = 0; i < 32; ++i) {
      const double part = yarn_part(i, first, last);
      EXPECT_NEAR((*got.divisors)[i], 1.0 / (part / 8.0 + 1.0 - part), 1e-9)
          << i << whole;
    }
    EXPECT_NEAR(got.magnitude, 0.1 * std::log(8.0) + 1.0, 1e-6);
  }
}

TEST(Rope, TakesAStatedMagnitudeForTheUsualOne) {
  EXPECT_EQ(
      rope(scaled("yarn", {{"attention_factor", 1.25}})).magnitude, 1.25f);
  const cpu::Rope both =
      rope(scaled("yarn", {{"mscale", 1.0}, {"mscale_all_dim", 1.0}}));
  EXPECT_EQ(both.magnitude, 1.0f);
}

TEST(Rope, DividesEachPairByItsLongFactor) {
  std::vector<double> factors;
  for (int i = 0; i < 32; ++i) {
    factors.push_back(1.0 + i);
  }
  SettingMap settings = scaled("longrope", {{"long_factor", factors}});
  settings.erase("rope_scaling.factor");
  const cpu::Rope got = rope(settings);
  EXPECT_EQ(*got.divisors, factors);
  // 131072 positions are 32 times 4096.
  EXPECT_NEAR(
      got.magnitude, std::sqrt(1.0 + std::log(32.0) / std::log(4096.0)), 1e-6);
  factors.pop_back();
  settings["rope_scaling.long_factor"] = factors;
  EXPECT_THAT(
      refusal(settings),
      testing::HasSubstr(
          "config.json: rope_scaling.long_factor: expected 32 numbers, got "
          "31"));
}

TEST(Rope, RefusesByNameAScalingThatFollowsTheLengthOfTheText) {
  EXPECT_THAT(
      refusal(scaled("dynamic")),
      testing::AllOf(
          testing::HasSubstr("rope_scaling.rope_type: expected default, "),
          testing::HasSubstr("got \"dynamic\""),
          testing::HasSubstr("(unsupported)")));
}

TEST(Rope, RefusesNumbersThatNoRopeHas) {
  const auto with = [](const char* type, const char* name, double value) {
    return refusal(scaled(type, {{name, value}}));
  };
  const auto names = [](const char* name) {
    return testing::HasSubstr(
        std::string("rope_scaling.") + name + ": expected");
  };
  EXPECT_THAT(with("linear", "factor", 0.0), names("factor"));
  EXPECT_THAT(with("yarn", "factor", -1.0), names("factor"));
  EXPECT_THAT(
      with("llama3", "high_freq_factor", 1.0), names("high_freq_factor"));
  EXPECT_THAT(with("yarn", "attention_factor", 0.0), names("attention_factor"));
  EXPECT_THAT(refusal({{"rope_theta", 0.5}}), testing::HasSubstr("rope_theta"));
  EXPECT_THAT(
      refusal({{"rope_theta", std::string("x")}}),
      testing::HasSubstr("rope_theta: expected a number"));
}

TEST(Rope, TurnsAPartOfAHead) {
  EXPECT_EQ(rope_dims(source({})), 64);
  EXPECT_EQ(rope_dims(source({{"partial_rotary_factor", 0.75}})), 48);
  EXPECT_EQ(rope_dims(source({{"partial_rotary_factor", 0.4}}, 80)), 32);
  EXPECT_THROW(rope_dims(source({{"partial_rotary_factor", 0.0}})), Error);
  EXPECT_THROW(rope_dims(source({{"partial_rotary_factor", 1.5}})), Error);
  EXPECT_THROW(rope_dims(source({{"partial_rotary_factor", 0.02}})), Error);
}

} // namespace
} // namespace holdfast
