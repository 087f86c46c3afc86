// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The loops for AVX-512 give the bits of the plain ones.

#include "holdfast/codec/vector_loops.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "codec_support.h"
#include "holdfast/env/cpu.h"

namespace holdfast {
namespace {

/// A vector of `dim` elements of one kind: normal, huge, tiny, subnormal,
/// constant, zeros, with an outlier, or with a number that is not finite.
std::vector<float> awkward_vector(int64_t dim, uint32_t seed) {
  std::vector<float> x = random_values(dim, seed);
  const float scales[] = {1.0f, 1e30f, 1e-9f, 1e-40f, 1e37f, 1e-17f};
  for (float& v : x) {
    v *= scales[seed / 8 % 6];
  }
  switch (seed % 8) {
    case 1:
      std::fill(x.begin(), x.end(), x[0]);
      break;
    case 2:
      std::fill(x.begin(), x.end(), seed % 16 < 8 ? 0.0f : -0.0f);
      break;
    case 3:
      x[dim / 3] *= 1000.0f;
      break;
    case 4:
      x[dim / 2] = std::numeric_limits<float>::infinity();
      break;
    case 5:
      x[dim - 1] = std::nanf("");
      break;
    case 6:
      x[1] = std::bit_cast<float>(0x7f7f7fffu + seed / 8 % 2);
      break;
    default:
      break;
  }
  return x;
}

class VectorLoopsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (best_kernel_path() == KernelPath::kPlain) {
      GTEST_SKIP() << "this processor has no AVX-512";
    }
  }
};

#if defined(__x86_64__)
TEST_F(VectorLoopsTest, EncodeGroupsToTheSameCodesAndScales) {
  for (uint32_t seed = 0; seed < 960; ++seed) {
    for (const int64_t group : {32, 64, 128}) {
      const std::vector<float> x = awkward_vector(group, seed);
      for (const int bits : {2, 3, 4, 5, 6, 8}) {
        std::vector<uint8_t> expected(group), got(group);
        const AffineScale plain =
            plain_loops().affine_encode(bits, x.data(), group, expected.data());
        const AffineScale fast =
            avx512_loops().affine_encode(bits, x.data(), group, got.data());
        ASSERT_EQ(expected, got) << seed << " " << bits;
        ASSERT_EQ(plain, fast) << seed << " " << bits;
      }
    }
  }
}

TEST_F(VectorLoopsTest, EncodeVectorsToTheSameCodesAndNorms) {
  for (uint32_t seed = 0; seed < 480; ++seed) {
    for (const int64_t dim : {32, 48, 80, 128, 240, 256, 512}) {
      const std::vector<float> x = awkward_vector(dim, seed);
      for (const int bits : {2, 3, 4, 5, 8}) {
        std::vector<uint8_t> expected(dim), got(dim);
        const float plain =
            plain_loops().turbo_encode(bits, x.data(), dim, expected.data());
        const float fast =
            avx512_loops().turbo_encode(bits, x.data(), dim, got.data());
        ASSERT_EQ(expected, got) << seed << " " << bits << " " << dim;
        ASSERT_EQ(std::bit_cast<uint32_t>(plain), std::bit_cast<uint32_t>(fast))
            << seed << " " << bits << " " << dim;
      }
    }
  }
}

TEST_F(VectorLoopsTest, RotateToTheSameBits) {
  for (int64_t dim = 32; dim <= 512; dim += 16) {
    const std::vector<float> x = random_values(dim, 3);
    std::vector<float> expected = x;
    std::vector<float> got = x;
    plain_loops().rotate(expected.data(), dim);
    avx512_loops().rotate(got.data(), dim);
    ASSERT_EQ(expected, got) << dim;
    plain_loops().unrotate(expected.data(), dim);
    avx512_loops().unrotate(got.data(), dim);
    ASSERT_EQ(expected, got) << dim;
  }
}
#endif

} // namespace
} // namespace holdfast
