// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "codec_support.h"

namespace holdfast {
namespace {

std::vector<int64_t> rotated_dims() {
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim <= 640; ++dim) {
    if (can_rotate(dim)) {
      dims.push_back(dim);
    }
  }
  return dims;
}

/// Entry (i, j) of the Hadamard matrix: the parity of the bits in common.
double hadamard(int64_t i, int64_t j) {
  return std::popcount(static_cast<uint64_t>(i & j)) % 2 == 0 ? 1.0 : -1.0;
}

/// docs/codecs.md written out as matrices, in double.
std::vector<double> rotated_by_matrix(std::vector<double> x) {
  const auto dim = static_cast<int64_t>(x.size());
  int64_t width = 1;
  while (2 * width <= dim) {
    width *= 2;
  }
  for (int pass = 0; pass < (width == dim ? 1 : 2); ++pass) {
    const int64_t first = pass == 0 ? 0 : dim - width;
    std::vector<double> y(width, 0.0);
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        const double sign = rotation_negates(pass, j) ? -1.0 : 1.0;
        y[i] += hadamard(i, j) * sign * x[first + j] / std::sqrt(double(width));
      }
    }
    std::copy(y.begin(), y.end(), x.begin() + first);
  }
  return x;
}

TEST(Rotation, TakesMultiplesOfSixteenFrom32To512) {
  const std::vector<int64_t> dims = rotated_dims();
  EXPECT_EQ(dims.front(), 32);
  EXPECT_EQ(dims.back(), 512);
  EXPECT_EQ(dims.size(), 31u);
  for (const int64_t dim : {16, 100, 528}) {
    std::vector<float> x(dim);
    EXPECT_THROW(rotate(x), Error);
    EXPECT_THROW(unrotate(x), Error);
  }
}

TEST(Rotation, IsTheDocumentedMatrixForEveryHeadSize) {
  for (const int64_t dim : rotated_dims()) {
    std::vector<float> x = random_values(dim, static_cast<uint32_t>(dim));
    const std::vector<double> expected =
        rotated_by_matrix({x.begin(), x.end()});
    rotate(x);
    for (int64_t d = 0; d < dim; ++d) {
      ASSERT_NEAR(x[d], expected[d], 3e-6) << dim << " " << d;
    }
  }
}

TEST(Rotation, KeepsLengthsAndComesBack) {
  for (const int64_t dim : rotated_dims()) {
    const std::vector<float> x = random_values(dim, 5);
    std::vector<float> y = x;
    rotate(y);
    EXPECT_NEAR(squares(y), squares(x), 1e-5 * squares(x)) << dim;
    unrotate(y);
    EXPECT_LT(squared_distance(x, y), 1e-12 * squares(x)) << dim;
  }
}

TEST(Rotation, SpreadsOneElementOverAtLeastHalfAWidth) {
  for (const int64_t dim : rotated_dims()) {
    for (int64_t at = 0; at < dim; at += 5) {
      std::vector<float> x(dim, 0.0f);
      x[at] = 1.0f;
      rotate(x);
      float peak = 0.0f;
      for (const float y : x) {
        peak = std::max(peak, std::abs(y));
      }
      // Alone it would be 1; evenly spread over the pass, 1 / sqrt(width).
      EXPECT_LT(peak, 0.65f) << dim << " " << at;
      if (rotation_width(dim) == dim) {
        EXPECT_EQ(peak, rotation_scale(dim));
      }
    }
  }
}

TEST(Rotation, HasTheSignsThatStoredBlocksWereMadeWith) {
  EXPECT_EQ(rotation_sign_word(0, 0), 0x910a2dec89025cc1u);
  std::set<uint64_t> words;
  int set = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t word = 0; word < 8; ++word) {
      words.insert(rotation_sign_word(pass, word));
      set += std::popcount(rotation_sign_word(pass, word));
    }
  }
  EXPECT_EQ(words.size(), 16u);
  EXPECT_NEAR(set, 512, 64); // two deviations of a fair coin are 32
}

TEST(Rotation, ScalesByTheRoundedRootOfItsWidth) {
  for (int64_t width = 32; width <= 512; width *= 2) {
    EXPECT_EQ(
        rotation_scale(width),
        static_cast<float>(1.0 / std::sqrt(double(width))));
  }
}

} // namespace
} // namespace holdfast
