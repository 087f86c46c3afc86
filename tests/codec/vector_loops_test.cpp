// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The loops for vector registers give the bits of the plain ones.

#include "holdfast/codec/vector_loops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "codec_support.h"
#include "holdfast/codec/code_tile.h"
#include "holdfast/env/for_path.h"
#include "tests/kernel_paths.h"

namespace holdfast {
namespace {

/// A vector of `dim` elements of one kind: normal, huge, tiny, subnormal,
/// constant, zeros, with an outlier, or with a number that is not finite.
std::vector<float> awkward_vector(int64_t dim, uint32_t seed) {
  std::vector<float> x = random_values(dim, seed);
  const float scales[] = {
      1.0f, 1e30f, 1e-9f, 1e-40f, 1e37f, 1e-17f, 3e4f, 1e-5f, 1e-7f};
  for (float& v : x) {
    v *= scales[seed / 8 % 9];
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
    case 6: // about where bf16 and f16 end, and where sums of squares do
      x[1] = std::bit_cast<float>(
          (seed / 8 % 3 == 0       ? 0x7f7f8000u
               : seed / 8 % 3 == 1 ? 0x477f8000u
                                   : 0x5f800000u) -
          seed / 24 % 3);
      break;
    case 7:
      x.assign(x.size(), 0.0f);
      x[seed / 8 % dim] = seed % 16 < 8 ? 1e-20f : 3.0f;
      break;
    default:
      break;
  }
  return x;
}

/// First slots and counts: whole tiles, single tokens, and both mixed.
constexpr std::pair<int64_t, int64_t> kRuns[] = {
    {0, 64},
    {0, 1},
    {31, 1},
    {30, 1},
    {5, 40},
    {16, 16},
    {15, 18},
    {63, 1},
    {48, 16}};

class VectorLoopsTest : public ::testing::TestWithParam<KernelPath> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam())) {
      GTEST_SKIP() << "not on this processor";
    }
  }
  const VectorLoops& fast_loops() const {
    return for_path<avx512_loops, avx512_loops, vec256_loops, plain_loops>(
        GetParam())();
  }
};

INSTANTIATE_TEST_SUITE_P(
    Paths,
    VectorLoopsTest,
    ::testing::ValuesIn(test::vector_paths()),
    [](const auto& info) { return std::string(name(info.param)); });

/// `count` vectors of other kinds, one after the other, `gap` floats between.
std::vector<float>
awkward_vectors(int64_t dim, int64_t count, int64_t gap, uint32_t seed) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) {
    const auto x = awkward_vector(dim, seed + 5 * static_cast<uint32_t>(i));
    all.insert(all.end(), x.begin(), x.end());
    all.insert(all.end(), gap, std::nanf(""));
  }
  return all;
}

constexpr int64_t kGap = 16;

TEST_P(VectorLoopsTest, EncodeGroupsToTheSameCodesAndScales) {
  for (uint32_t seed = 0; seed < 720; seed += 4) {
    for (const int64_t dim : {128, 256, 384}) {
      const int64_t count = seed / 4 % 16 + 1;
      const auto x = awkward_vectors(dim, count, kGap, seed);
      for (const int bits : {2, 3, 4, 5, 6, 8}) {
        const AffineWidths widths{bits, 32 << (seed / 4 + bits) % 3};
        std::vector<uint8_t> expected(count * dim), got(count * dim);
        std::vector<AffineScale> plain(count * dim / widths.group);
        std::vector<AffineScale> fast(plain.size());
        CodedVectors vectors{
            x.data(), dim + kGap, count, dim, expected.data(), dim};
        plain_loops().affine_encode(widths, vectors, plain.data());
        vectors.codes = got.data();
        fast_loops().affine_encode(widths, vectors, fast.data());
        ASSERT_EQ(expected, got) << seed << " " << bits << " " << dim;
        ASSERT_EQ(plain, fast) << seed << " " << bits << " " << dim;
      }
    }
  }
}

TEST_P(VectorLoopsTest, EncodeVectorsToTheSameCodesAndNorms) {
  for (uint32_t seed = 0; seed < 720; seed += 4) {
    for (const int64_t dim : {32, 48, 64, 80, 96, 128, 192, 240, 256, 512}) {
      const int64_t count = seed / 4 % 16 + 1;
      const auto x = awkward_vectors(dim, count, kGap, seed);
      for (const int bits : {2, 3, 4, 5, 8}) {
        std::vector<uint8_t> expected(count * dim), got(count * dim);
        std::vector<float> plain(count), fast(count);
        CodedVectors vectors{
            x.data(), dim + kGap, count, dim, expected.data(), dim};
        plain_loops().turbo_encode(bits, vectors, plain.data());
        vectors.codes = got.data();
        fast_loops().turbo_encode(bits, vectors, fast.data());
        ASSERT_EQ(expected, got) << seed << " " << bits << " " << dim;
        ASSERT_EQ(std::memcmp(plain.data(), fast.data(), 4 * count), 0)
            << seed << " " << bits << " " << dim;
      }
    }
  }
}

TEST_P(VectorLoopsTest, RotateToTheSameBits) {
  for (int64_t dim = 32; dim <= 512; dim += 16) {
    const std::vector<float> x = random_values(dim, 3);
    std::vector<float> expected = x;
    std::vector<float> got = x;
    plain_loops().rotate(expected.data(), dim);
    fast_loops().rotate(got.data(), dim);
    ASSERT_EQ(expected, got) << dim;
    plain_loops().unrotate(expected.data(), dim);
    fast_loops().unrotate(got.data(), dim);
    ASSERT_EQ(expected, got) << dim;
  }
}

/// Planes as they are before anything is put, as words.
std::vector<uint16_t> old_words(int64_t count) {
  std::vector<uint16_t> words(count);
  for (int64_t i = 0; i < count; ++i) {
    words[i] = static_cast<uint16_t>(i * 40503);
  }
  return words;
}

TEST_P(VectorLoopsTest, PutCodesIntoTheSameWordsAndLeaveTheOthers) {
  std::mt19937 random(5);
  for (const int64_t dim : {16, 48, 64, 80, 192, 256, 512}) {
    for (const int bits : {2, 3, 4, 5, 6, 8}) {
      for (const bool keys : {true, false}) {
        const int64_t width = keys ? code_key_width(dim) : dim;
        std::vector<uint8_t> codes(kBlockTokens * width);
        for (uint8_t& code : codes) {
          code = static_cast<uint8_t>(random() & ((1u << bits) - 1));
        }
        for (const auto& [slot, count] : kRuns) {
          auto expected = old_words(code_plane_bytes(bits, width) / 2);
          auto got = expected;
          const SlotRun run{slot, count, dim};
          (keys ? plain_loops().put_key_codes : plain_loops().put_value_codes)(
              bits, run, codes.data(), expected.data());
          (keys ? fast_loops().put_key_codes : fast_loops().put_value_codes)(
              bits, run, codes.data(), got.data());
          ASSERT_EQ(expected, got)
              << bits << " " << dim << " " << keys << " " << slot;
        }
      }
    }
  }
}

TEST_P(VectorLoopsTest, ReadTheSameNumbersOfBf16) {
  for (const int64_t dim : {16, 48, 64, 80, 192, 256, 512}) {
    // With every pattern's kind: NaNs, infinities, subnormals.
    const auto plane = old_words(kBlockTokens * code_key_width(dim));
    for (const auto& [slot, count] : kRuns) {
      const SlotRun run{slot, count, dim};
      for (const bool keys : {true, false}) {
        std::vector<float> expected(count * dim), got(count * dim);
        (keys ? plain_loops().read_bf16_keys : plain_loops().read_bf16_values)(
            run, plane.data(), expected.data());
        (keys ? fast_loops().read_bf16_keys : fast_loops().read_bf16_values)(
            run, plane.data(), got.data());
        ASSERT_EQ(
            std::memcmp(expected.data(), got.data(), 4 * expected.size()), 0)
            << dim << " " << keys << " " << slot;
      }
    }
  }
}

} // namespace
} // namespace holdfast
