// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What docs/codecs.md says of the affine codecs. That they equal MLX's is
// shown in tests/codec_mlx.

#include "holdfast/codec/affine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "codec_support.h"
#include "holdfast/base/bits.h"
#include "holdfast/codec/affine_group.h"

namespace holdfast {
namespace {

constexpr int kBits[] = {2, 3, 4, 5, 6, 8};

/// What an element becomes before it is encoded.
float rounded(int bits, float x) {
  const float bf16 = bf16_to_f32(f32_to_bf16(x));
  return affine_scale_format(bits) == DenseFormat::kF16
      ? f16_to_f32(f32_to_f16(bf16))
      : bf16;
}

TEST(Affine, EncodesTheExampleOfThePage) {
  // -1, 0, 1, 2 and zeros, 2 bits: from 2 down in steps of 1.
  std::vector<float> group(32, 0.0f);
  group[0] = -1.0f;
  group[2] = 1.0f;
  group[3] = 2.0f;
  std::vector<uint8_t> codes(32);
  const AffineScale scale = affine_encode(2, group, codes);
  const AffineLine line = affine_line(2, scale);
  EXPECT_EQ(line.scale, -1.0f);
  EXPECT_EQ(line.bias, 2.0f);
  EXPECT_EQ(codes[0], 3);
  EXPECT_EQ(codes[1], 2);
  EXPECT_EQ(codes[2], 1);
  EXPECT_EQ(codes[3], 0);
  EXPECT_EQ(affine_decode(3, line), -1.0f);
}

RC_GTEST_PROP(
    Affine,
    StaysWithinItsBoundAndMeetsTheFartherEndExactly,
    (uint32_t seed)) {
  const int bits = kBits[seed % 6];
  const int group = 32 << (seed / 6 % 3);
  std::vector<float> x = random_values(group, seed);
  const float shift = float(*rc::gen::inRange(-200, 200)) / 10.0f;
  const int most = affine_scale_format(bits) == DenseFormat::kF16 ? 11 : 40;
  const float scale = std::exp2(float(*rc::gen::inRange(-20, most)));
  for (float& v : x) {
    v = rounded(bits, (v + shift) * scale);
  }
  std::vector<uint8_t> codes(group);
  const AffineLine stored = affine_line(bits, affine_encode(bits, x, codes));
  const CodecForm form = AffineCodec(bits, group).form();
  size_t farthest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    farthest = std::abs(x[i]) > std::abs(x[farthest]) ? i : farthest;
    RC_ASSERT(codes[i] < 1 << bits);
    RC_ASSERT(
        std::abs(double(affine_decode(codes[i], stored)) - x[i]) <=
        affine_bound(form, x));
  }
  RC_ASSERT(affine_decode(codes[farthest], stored) == x[farthest]);
}

TEST(Affine, GivesConstantsBackAsRounded) {
  for (const int bits : kBits) {
    for (const float value :
         {1.0f, -3.5f, 1e-6f, -0.0f, 1.01f, 65407.0f, 1e30f, 3e38f}) {
      if (bits == 8 && value > 65408.0f) {
        continue;
      }
      const std::vector<float> x(64, value);
      const AffineCodec codec(bits, 32);
      for (const float y : through(codec, ChannelRole::kValues, x)) {
        ASSERT_EQ(y, rounded(bits, value)) << bits << " " << value;
      }
    }
  }
}

TEST(Affine, TakesDifferencesBelowTheFloorAsNone) {
  // Steps are at least 1e-7: a group of smaller numbers is zero.
  for (const int bits : kBits) {
    const std::vector<float> x(32, bits == 8 ? 2.9e-8f : 4e-8f);
    for (const float y :
         through(AffineCodec(bits, 32), ChannelRole::kKeys, x)) {
      EXPECT_EQ(y, 0.0f) << bits;
    }
  }
}

TEST(Affine, OfEightBitsDecodesAGroupBeyondTheRangeOfF16ToNaN) {
  for (const float sign : {1.0f, -1.0f}) {
    std::vector<float> x = random_values(96, 6);
    x[40] = sign * 65407.0f; // rounds to 65280
    auto y = through(AffineCodec(8, 32), ChannelRole::kKeys, x);
    EXPECT_EQ(y[40], sign * 65280.0f);
    x[40] = sign * 65408.0f; // rounds to 65536
    y = through(AffineCodec(8, 32), ChannelRole::kKeys, x);
    for (size_t d = 0; d < x.size(); ++d) {
      EXPECT_EQ(std::isnan(y[d]), d / 32 == 1) << d;
    }
    y = through(AffineCodec(6, 32), ChannelRole::kKeys, x);
    EXPECT_EQ(y[40], sign * 65536.0f);
  }
}

TEST(Affine, OfEightBitsKeepsStepsThatBf16ScalesWouldLose) {
  // 0 to 255 by ones, and a scale that bf16 does not hold: the farthest code
  // stays within half a step, where a bf16 scale is wrong by up to half of one.
  std::vector<float> x(128);
  for (size_t d = 0; d < x.size(); ++d) {
    x[d] = bf16_to_f32(f32_to_bf16(float(2 * d) * 1.00390625f * 1.0078125f));
  }
  const auto y = through(AffineCodec(8, 128), ChannelRole::kKeys, x);
  const double step = double(x[127]) / 255;
  for (size_t d = 0; d < x.size(); ++d) {
    EXPECT_NEAR(y[d], x[d], 0.63 * step) << d;
  }
}

TEST(Affine, DecodesAGroupThatIsNotFiniteToNaNAndLeavesTheOthers) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::nanf(""), 3.4e38f}) {
    std::vector<float> x = random_values(96, 6);
    x[40] = bad; // 3.4e38 rounds to an infinite bf16
    const auto y = through(AffineCodec(4, 32), ChannelRole::kKeys, x);
    for (size_t d = 0; d < x.size(); ++d) {
      EXPECT_EQ(std::isnan(y[d]), d / 32 == 1) << d;
    }
  }
}

TEST(Affine, EncodesARoundedVectorToTheSameBytes) {
  for (const int bits : kBits) {
    const AffineCodec codec(bits, 64);
    std::vector<float> x = random_values(128, 8);
    Head first(codec, ChannelRole::kKeys, 128, 0);
    codec.encode(ChannelRole::kKeys, x, 5, first.pointers);
    for (float& v : x) {
      v = bf16_to_f32(f32_to_bf16(v));
    }
    Head second(codec, ChannelRole::kKeys, 128, 0);
    codec.encode(ChannelRole::kKeys, x, 5, second.pointers);
    EXPECT_EQ(first.bytes, second.bytes);
  }
}

TEST(Affine, RefusesOtherWidthsAndNamesWhatFitsAHead) {
  EXPECT_THROW(AffineCodec(7, 64), Error);
  EXPECT_THROW(AffineCodec(1, 64), Error);
  EXPECT_THROW(AffineCodec(4, 16), Error);
  const auto refusal = [](int bits, int group, int64_t dim) {
    const AffineCodec codec(bits, group);
    return codec.supports(ChannelRole::kKeys, dim).text();
  };
  EXPECT_EQ(
      refusal(4, 64, 80),
      "[q4] expected a head size that is a multiple of 64 up to 512, got 80; "
      "t4 fits");
  EXPECT_TRUE(refusal(6, 64, 80).ends_with("; t8 fits"));
  EXPECT_TRUE(refusal(4, 64, 96).ends_with("; q4g32 fits"));
  EXPECT_TRUE(refusal(4, 128, 192).ends_with("; q4 fits"));
  EXPECT_TRUE(refusal(4, 64, 16).ends_with("; bf16 fits"));
  EXPECT_TRUE(refusal(4, 64, 100).ends_with("; no codec fits"));
}

} // namespace
} // namespace holdfast
