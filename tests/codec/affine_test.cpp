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

TEST(Affine, EncodesTheExampleOfThePage) {
  // -1, 0, 1, 2 and zeros, 2 bits: from 2 down in steps of 1.
  std::vector<float> group(32, 0.0f);
  group[0] = -1.0f;
  group[2] = 1.0f;
  group[3] = 2.0f;
  std::vector<uint8_t> codes(32);
  const AffineScale scale = affine_encode(2, group, codes);
  EXPECT_EQ(bf16_to_f32(scale.scale), -1.0f);
  EXPECT_EQ(bf16_to_f32(scale.bias), 2.0f);
  EXPECT_EQ(codes[0], 3);
  EXPECT_EQ(codes[1], 2);
  EXPECT_EQ(codes[2], 1);
  EXPECT_EQ(codes[3], 0);
  EXPECT_EQ(affine_decode(3, scale), -1.0f);
}

RC_GTEST_PROP(
    Affine,
    StaysWithinItsBoundAndMeetsTheFartherEndExactly,
    (uint32_t seed)) {
  const int bits = kBits[seed % 6];
  const int group = 32 << (seed / 6 % 3);
  std::vector<float> x = random_values(group, seed);
  const float shift = float(*rc::gen::inRange(-200, 200)) / 10.0f;
  const float scale = std::exp2(float(*rc::gen::inRange(-20, 40)));
  for (float& v : x) {
    v = bf16_to_f32(f32_to_bf16((v + shift) * scale));
  }
  std::vector<uint8_t> codes(group);
  const AffineScale stored = affine_encode(bits, x, codes);
  const CodecForm form{
      .kind = CodecKind::kAffine, .bits = bits, .group = group};
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

TEST(Affine, GivesConstantsBackAsBf16) {
  for (const int bits : kBits) {
    for (const float value : {1.0f, -3.5f, 1e-6f, 1e30f, 3e38f, -0.0f}) {
      const std::vector<float> x(64, value);
      const AffineCodec codec(bits, 32);
      const float expected = bf16_to_f32(f32_to_bf16(value));
      for (const float y : through(codec, ChannelRole::kValues, x)) {
        ASSERT_EQ(y, expected) << bits << " " << value;
      }
    }
  }
}

TEST(Affine, TakesDifferencesBelowTheFloorAsNone) {
  // Steps are at least 1e-7: a group of smaller numbers is zero.
  const std::vector<float> x(32, 4e-8f);
  for (const float y : through(AffineCodec(8, 32), ChannelRole::kKeys, x)) {
    EXPECT_EQ(y, 0.0f);
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
