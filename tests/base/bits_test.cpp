// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/bits.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace holdfast {
namespace {

constexpr uint32_t kPatterns = 1u << 16;

uint32_t bits_of(float x) {
  return std::bit_cast<uint32_t>(x);
}

float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

/// The value of an f16 pattern from its definition; not for NaN.
double f16_value(uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31u);
  const int mantissa = static_cast<int>(bits & 1023u);
  double value = 0.0;
  if (exponent == 31) {
    value = std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return bits & 0x8000u ? -value : value;
}

bool is_nan_f16(uint32_t bits) {
  return (bits & 0x7fffu) > 0x7c00u;
}

bool is_nan_bf16(uint32_t bits) {
  return (bits & 0x7fffu) > 0x7f80u;
}

TEST(Bits, EveryBf16PatternSurvivesTheWayThroughF32) {
  for (uint32_t b = 0; b < kPatterns; ++b) {
    const float wide = bf16_to_f32(static_cast<uint16_t>(b));
    ASSERT_EQ(bits_of(wide), b << 16);
    ASSERT_EQ(f32_to_bf16(wide), b);
  }
}

TEST(Bits, EveryF16PatternSurvivesTheWayThroughF32) {
  for (uint32_t b = 0; b < kPatterns; ++b) {
    const float wide = f16_to_f32(static_cast<uint16_t>(b));
    if (is_nan_f16(b)) {
      ASSERT_TRUE(std::isnan(wide)) << b;
    } else {
      ASSERT_EQ(static_cast<double>(wide), f16_value(b)) << b;
      ASSERT_EQ(std::signbit(wide), (b & 0x8000u) != 0) << b;
    }
    ASSERT_EQ(f32_to_f16(wide), b);
  }
}

// Between each finite pattern and the next lie three cases: below, at and above
// the midpoint, which goes to the even one. The step after the greatest finite
// value would be the next power of two, from whose midpoint on all is infinite.
TEST(Bits, RoundsF32ToTheNearestF16AndTiesToEven) {
  for (uint32_t b = 0; b < 0x7c00u; ++b) {
    const double low = f16_value(b);
    const double high = b == 0x7bffu ? 65536.0 : f16_value(b + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2);
    const float below = std::nextafter(middle, 0.0f);
    const float above = std::nextafter(middle, 1e9f);
    for (const uint32_t sign : {0u, 0x8000u}) {
      const float s = sign ? -1.0f : 1.0f;
      ASSERT_EQ(f32_to_f16(s * below), sign | b) << b;
      ASSERT_EQ(f32_to_f16(s * middle), sign | (b + (b & 1u))) << b;
      ASSERT_EQ(f32_to_f16(s * above), sign | (b + 1)) << b;
    }
  }
}

TEST(Bits, RoundsF32ToTheNearestBf16AndTiesToEven) {
  for (uint32_t b = 0; b < 0x7f80u; ++b) {
    const uint32_t middle = (b << 16) | 0x8000u;
    for (const uint32_t sign : {0u, 0x8000u}) {
      const uint32_t top = sign << 16;
      ASSERT_EQ(f32_to_bf16(float_of(top | (middle - 1))), sign | b) << b;
      ASSERT_EQ(f32_to_bf16(float_of(top | middle)), sign | (b + (b & 1u)));
      ASSERT_EQ(f32_to_bf16(float_of(top | (middle + 1))), sign | (b + 1));
    }
  }
}

TEST(Bits, LargeValuesBecomeInfinite) {
  const float huge = std::numeric_limits<float>::max();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {huge, infinity, 65520.0f, 1e6f}) {
    EXPECT_EQ(f32_to_f16(x), 0x7c00);
    EXPECT_EQ(f32_to_f16(-x), 0xfc00);
  }
  EXPECT_EQ(f32_to_bf16(huge), 0x7f80);
  EXPECT_EQ(f32_to_bf16(infinity), 0x7f80);
  EXPECT_EQ(f32_to_bf16(-infinity), 0xff80);
}

TEST(Bits, NoNanTurnsIntoANumber) {
  for (uint32_t sign : {0u, 0x80000000u}) {
    for (uint32_t payload = 1; payload < 0x800000u; payload += 17) {
      const float nan = float_of(sign | 0x7f800000u | payload);
      const uint16_t b = f32_to_bf16(nan);
      const uint16_t h = f32_to_f16(nan);
      ASSERT_TRUE(is_nan_bf16(b)) << payload;
      ASSERT_TRUE(is_nan_f16(h)) << payload;
      ASSERT_EQ(b >> 15, sign >> 31);
      ASSERT_EQ(h >> 15, sign >> 31);
    }
  }
}

#if defined(__x86_64__)

__attribute__((target("f16c"))) float hardware_f16_to_f32(uint16_t bits) {
  return _cvtsh_ss(bits);
}

__attribute__((target("f16c"))) uint16_t hardware_f32_to_f16(float x) {
  return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}

TEST(Bits, AgreesWithTheProcessorOnF16) {
  if (!__builtin_cpu_supports("f16c")) {
    GTEST_SKIP() << "no F16C";
  }
  for (uint32_t b = 0; b < kPatterns; ++b) {
    const float ours = f16_to_f32(static_cast<uint16_t>(b));
    const float theirs = hardware_f16_to_f32(static_cast<uint16_t>(b));
    // The processor makes signalling NaNs quiet.
    const uint32_t quiet = is_nan_f16(b) ? 0x400000u : 0u;
    ASSERT_EQ(bits_of(ours) | quiet, bits_of(theirs)) << b;
  }
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 4099) {
    const float x = float_of(static_cast<uint32_t>(bits));
    const uint32_t quiet = std::isnan(x) ? 0x200u : 0u;
    const uint32_t theirs = hardware_f32_to_f16(x);
    if (std::isnan(x)) {
      ASSERT_EQ(f32_to_f16(x) | quiet, theirs) << bits;
    } else {
      ASSERT_EQ(f32_to_f16(x), theirs) << bits;
    }
  }
}

#endif

TEST(Bits, RoundsIntegersUp) {
  EXPECT_EQ(ceil_div(0, 16), 0);
  EXPECT_EQ(ceil_div(1, 16), 1);
  EXPECT_EQ(ceil_div(16, 16), 1);
  EXPECT_EQ(ceil_div(17, 16), 2);
  EXPECT_EQ(round_up(0, 64), 0);
  EXPECT_EQ(round_up(65, 64), 128);
}

} // namespace
} // namespace holdfast
