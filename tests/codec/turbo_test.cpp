// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/turbo.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "codec_support.h"
#include "holdfast/base/bits.h"

namespace holdfast {
namespace {

constexpr int kBits[] = {2, 3, 4, 5, 8};

std::vector<float> rounded(std::vector<float> x) {
  for (float& v : x) {
    v = bf16_to_f32(f32_to_bf16(v));
  }
  return x;
}

TEST(TurboBooks, AreSymmetricAscendingAndTheirDistortionIsTheTables) {
  for (const TurboBook& book : kTurboBooks) {
    const int count = 1 << book.bits;
    for (int c = 0; c < count; ++c) {
      EXPECT_EQ(book.levels[c], -book.levels[count - 1 - c]);
      if (c > 0) {
        EXPECT_GT(book.levels[c], book.levels[c - 1]);
      }
    }
    // The midpoint rule over +-8 deviations in steps of 1 / 4000.
    double loss = 0.0;
    for (int i = -32000; i < 32000; ++i) {
      const double x = (i + 0.5) / 4000.0;
      double nearest = 1e9;
      for (int c = 0; c < count; ++c) {
        nearest = std::min(nearest, std::abs(x - book.levels[c] / book.scale));
      }
      loss += nearest * nearest * std::exp(-x * x / 2.0);
    }
    loss /= 4000.0 * std::sqrt(2.0 * std::acos(-1.0));
    EXPECT_NEAR(loss, book.distortion, 1e-6) << book.bits;
  }
}

TEST(Turbo, LosesLessOnNormalVectorsThanOneStepForAllWould) {
  // The best of four steps against the table's distortion: what is left of it.
  struct Case {
    int bits;
    int64_t dim;
    double part;
  };
  for (const Case& c :
       {Case{2, 64, 0.944},
        Case{3, 64, 0.864},
        Case{4, 64, 0.781},
        Case{5, 64, 0.762},
        Case{4, 80, 0.805},
        Case{2, 128, 0.970},
        Case{3, 128, 0.924},
        Case{4, 128, 0.854},
        Case{5, 128, 0.828},
        Case{2, 256, 0.987},
        Case{3, 256, 0.958},
        Case{4, 256, 0.911},
        Case{5, 256, 0.877}}) {
    const TurboCodec codec(c.bits);
    double lost = 0.0;
    double whole = 0.0;
    for (uint32_t i = 0; i < 1000; ++i) {
      const std::vector<float> x = rounded(random_values(c.dim, i));
      const auto y = through(codec, ChannelRole::kKeys, x);
      lost += squared_distance(x, y);
      whole += squares(x);
    }
    EXPECT_NEAR(lost / whole / turbo_error(c.bits), c.part, 0.02)
        << codec.name() << " " << c.dim;
  }
}

TEST(Turbo, EightBitsLoseLessThanADenseBf16Rounding) {
  const TurboCodec codec(8);
  double lost = 0.0;
  double whole = 0.0;
  for (uint32_t i = 0; i < 500; ++i) {
    const std::vector<float> x = rounded(random_values(256, i));
    lost += squared_distance(x, through(codec, ChannelRole::kKeys, x));
    whole += squares(x);
  }
  EXPECT_LT(lost / whole, 6e-5);
  EXPECT_GT(lost / whole, 3e-5);
}

TEST(Turbo, KeepsTheProductOfAVectorWithItself) {
  for (const int bits : kBits) {
    for (const int64_t dim : {32, 80, 256}) {
      const std::vector<float> x = rounded(random_values(dim, 3));
      const auto y = through(TurboCodec(bits), ChannelRole::kKeys, x);
      double product = 0.0;
      for (int64_t d = 0; d < dim; ++d) {
        product += double(x[d]) * y[d];
      }
      EXPECT_NEAR(product, squares(x), 1e-5 * squares(x)) << bits << " " << dim;
    }
  }
}

TEST(Turbo, SpreadsOutliersThatWouldEatAnAffineGroup) {
  // Two elements carry most of the vector, the rest is what matters.
  for (const int64_t dim : {64, 80, 96, 128, 256}) {
    double lost = 0.0;
    double whole = 0.0;
    for (uint32_t i = 0; i < 200; ++i) {
      std::vector<float> x = random_values(dim, i);
      x[i % dim] = 30.0f;
      x[(i * 7 + 3) % dim] = -20.0f;
      const auto y = through(TurboCodec(4), ChannelRole::kKeys, x);
      lost += squared_distance(rounded(x), y);
      whole += squares(x);
    }
    EXPECT_LT(lost / whole, 1.6 * turbo_error(4)) << dim;
  }
}

TEST(Turbo, ChoosesTheNearestLevelOfTheRotatedVector) {
  for (const int bits : kBits) {
    const std::vector<float> x = random_values(128, 9);
    std::vector<uint8_t> codes(128);
    turbo_encode(bits, x, codes);
    std::vector<float> y = rounded(x);
    rotate(y);
    float peak = 0.0f;
    for (const float v : y) {
      peak = std::max(peak, std::abs(v));
    }
    const double usual = bits == 8
        ? 127.0 / peak
        : turbo_book(bits).scale / std::sqrt(squares(y) / 128.0);
    int steps = 0; // that explain all codes
    for (const double part : {1.0, 0.88, 0.96, 1.04, 1.12}) {
      bool nearest = true;
      for (size_t d = 0; d < y.size(); ++d) {
        const double u = y[d] * usual * part;
        const double here = std::abs(u - turbo_level(bits, codes[d]));
        for (int c = bits == 8 ? 1 : 0; c < 1 << bits; ++c) {
          const int level = turbo_level(bits, static_cast<uint8_t>(c));
          nearest = nearest && here <= std::abs(u - level) + 1e-4;
        }
      }
      steps += nearest ? 1 : 0;
    }
    EXPECT_EQ(steps, 1) << bits;
  }
}

TEST(Turbo, GivesTheSameCodesAtEveryPowerOfTwo) {
  for (const int bits : kBits) {
    std::vector<float> x = random_values(80, 1);
    std::vector<uint8_t> codes(80), scaled(80);
    const float norm = turbo_encode(bits, x, codes);
    for (const float power : {0x1p-30f, 0x1p4f, 0x1p50f}) {
      std::vector<float> z = x;
      for (float& v : z) {
        v *= power;
      }
      EXPECT_EQ(turbo_encode(bits, z, scaled), norm * power);
      EXPECT_EQ(scaled, codes);
    }
  }
}

TEST(Turbo, DecodesTheRotatedVectorWithoutTheWayBack) {
  const TurboCodec codec(4);
  const std::vector<float> x = random_values(96, 4);
  Head head(codec, ChannelRole::kValues, 96, 0);
  codec.encode(ChannelRole::kValues, x, 11, head.pointers);
  std::vector<float> rotated(96), whole(96);
  codec.decode_rotated(ChannelRole::kValues, head.read(), 11, rotated);
  codec.decode(ChannelRole::kValues, head.read(), 11, whole);
  unrotate(rotated);
  EXPECT_EQ(rotated, whole);
}

TEST(Turbo, StoresWhatIsTooSmallAsZeroAndWhatIsNotFiniteAsNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int bits : kBits) {
    const TurboCodec codec(bits);
    for (const float tiny : {1e-40f, 1e-20f}) {
      const std::vector<float> x(64, tiny);
      for (const float y : through(codec, ChannelRole::kKeys, x)) {
        ASSERT_EQ(y, 0.0f);
      }
    }
    for (const float bad : {infinity, -infinity, std::nanf(""), 3e38f}) {
      std::vector<float> x = random_values(64, 1);
      x[40] = bad;
      std::vector<uint8_t> codes(64);
      EXPECT_EQ(
          std::bit_cast<uint32_t>(turbo_encode(bits, x, codes)), 0x7fc00000u);
      for (const float y : through(codec, ChannelRole::kKeys, x)) {
        ASSERT_TRUE(std::isnan(y));
      }
    }
  }
}

TEST(Turbo, RefusesOtherWidths) {
  for (const int bits : {0, 1, 6, 7, 9, 16}) {
    EXPECT_THROW(TurboCodec{bits}, Error) << bits;
  }
}

} // namespace
} // namespace holdfast
