// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/env/cpu.h"
#include "holdfast/kernels/cpu/weight_pack.h"
#include "tests/kernel_paths.h"
#include "tests/kernels/linear_support.h"

namespace holdfast::cpu {
namespace {

using test::Kind;
using test::Source;

/// Reads a code from a tile by the document's words alone: bit by bit.
uint32_t documented_code(const uint8_t* tile, int bits, int column, int k) {
  const int row = k / 2;
  const int lane = 2 * column + k % 2;
  const auto bit = [&](int word, int place) {
    const uint8_t byte = tile[64 * word + 2 * lane + place / 8];
    return uint32_t{byte} >> (place % 8) & 1u;
  };
  const int whole = 16 / bits;
  uint32_t code = 0;
  for (int i = 0; i < bits; ++i) {
    if (row < whole * bits) {
      code |= bit(row / whole, row % whole * bits + i) << i;
    } else {
      const int spare = 16 - whole * bits;
      const int at = (row - whole * bits) * bits + i;
      code |= bit(at / spare, whole * bits + at % spare) << i;
    }
  }
  return code;
}

TEST(WeightPack, PlacesCodesOfEveryWidthAsDocumentedInAllForms) {
  std::mt19937 random(1);
  for (int bits = 2; bits <= 8; ++bits) {
    std::vector<uint8_t> codes(16 * 40);
    for (auto& code : codes) {
      code = static_cast<uint8_t>(random() % (1u << bits));
    }
    std::vector<uint8_t> tile(static_cast<size_t>(64 * bits), 0xaa);
    pack_code_tile_plain(codes.data(), 40, bits, tile.data());
    for (int column = 0; column < 16; ++column) {
      for (int k = 0; k < 32; ++k) {
        ASSERT_EQ(
            documented_code(tile.data(), bits, column, k),
            codes[static_cast<size_t>(40 * column + k)])
            << bits << " bits, column " << column << ", k " << k;
      }
    }
#if defined(__x86_64__) || defined(__aarch64__)
    if (holdfast::test::runs_vec256()) {
      std::vector<uint8_t> vector(tile.size(), 0x55);
      pack_code_tile_vec256(codes.data(), 40, bits, vector.data());
      ASSERT_EQ(vector, tile) << bits << " bits";
    }
#endif
#if defined(__x86_64__)
    if (runs_here(KernelPath::kAvx512)) {
      std::vector<uint8_t> vector(tile.size(), 0x55);
      pack_code_tile_avx512(codes.data(), 40, bits, vector.data());
      ASSERT_EQ(vector, tile) << bits << " bits";
    }
#endif
  }
}

TEST(WeightPack, PlacesBf16ValuesInPairsInAllForms) {
  std::vector<uint16_t> values(16 * 48);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<uint16_t>(i * 40503);
  }
  std::vector<uint16_t> tile(512);
  pack_bf16_tile_plain(values.data(), 48, tile.data());
  for (size_t n = 0; n < 16; ++n) {
    for (size_t k = 0; k < 32; ++k) {
      ASSERT_EQ(tile[32 * (k / 2) + 2 * n + k % 2], values[48 * n + k]);
    }
  }
#if defined(__x86_64__) || defined(__aarch64__)
  if (holdfast::test::runs_vec256()) {
    std::vector<uint16_t> vector(512);
    pack_bf16_tile_vec256(values.data(), 48, vector.data());
    EXPECT_EQ(vector, tile);
  }
#endif
#if defined(__x86_64__)
  if (runs_here(KernelPath::kAvx512)) {
    std::vector<uint16_t> vector(512);
    pack_bf16_tile_avx512(values.data(), 48, vector.data());
    EXPECT_EQ(vector, tile);
  }
#endif
}

constexpr WeightFormat codes(int bits, int group, bool offsets) {
  return {
      .kind = Kind::kCodes, .bits = bits, .group = group, .offsets = offsets};
}

std::vector<WeightFormat> formats() {
  std::vector<WeightFormat> all{{.kind = Kind::kF32}, {.kind = Kind::kBf16}};
  for (int bits = 2; bits <= 8; ++bits) {
    for (int group : {16, 32, 64, 128}) {
      all.push_back(codes(bits, group, bits % 2 == 0));
      all.push_back(codes(bits, group, bits % 2 == 1));
    }
  }
  return all;
}

TEST(Weight, ReadsRowsBackFromExactCodesAndScalesOfElevenBits) {
  Executor executor(2);
  for (const WeightFormat& format : formats()) {
    const int64_t n = 67;
    const int64_t k = format.group == 16 ? 48 : 256;
    const Source source = Source::random(format, n, k, 3);
    const Weight weight = source.pack(executor);
    std::vector<float> row(static_cast<size_t>(k));
    for (int64_t r = 0; r < n; ++r) {
      weight.read_row(r, row.data());
      for (int64_t i = 0; i < k; ++i) {
        const double value = source.value(r, i);
        double bound = 0.0; // f32 is exact
        if (format.kind == Kind::kBf16) {
          bound = std::fabs(value) * 0x1p-8;
        } else if (format.kind == Kind::kCodes) {
          // The code's share is exact but for its scale's 2^-11.
          const double zero =
              format.offsets ? 0.0 : double(1 << (format.bits - 1));
          bound = std::fabs(source.scale(r, i)) *
              std::fabs(source.codes[source.at(r, i)] - zero) * 0x1.01p-11;
          bound += format.offsets ? std::fabs(source.offset(r, i)) * 0x1.01p-11
                                  : 0.0;
          bound += std::fabs(value) * 0x1p-23;
        }
        ASSERT_NEAR(row[static_cast<size_t>(i)], value, bound)
            << test::text(format) << " row " << r << " k " << i;
      }
    }
  }
}

TEST(Weight, KeepsScalesThatAreFp16AlreadyWithoutAnyRounding) {
  Executor executor(1);
  Source source = Source::random(codes(8, 32, false), 64, 64, 4);
  for (float& scale : source.scales) {
    scale = f16_to_f32(f32_to_f16(scale));
  }
  const Weight weight = source.pack(executor);
  std::vector<float> row(64);
  for (int64_t r = 0; r < 64; ++r) {
    weight.read_row(r, row.data());
    for (int64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(row[static_cast<size_t>(i)], source.value(r, i));
    }
  }
}

TEST(Weight, PacksTheSameBytesWithAnyNumberOfThreads) {
  Executor one(1), three(3);
  for (const WeightFormat& format :
       {codes(5, 32, false), codes(4, 32, true), codes(6, 16, false)}) {
    const Source source = Source::random(format, 300, 640, 5);
    const Weight a = source.pack(one);
    const Weight b = source.pack(three);
    ASSERT_EQ(a.bytes(), b.bytes());
    EXPECT_EQ(
        0,
        std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes().get())));
  }
}

TEST(Weight, TakesHalfABitAWeightMoreThanTheFilesTypesAtMost) {
  const auto bits = [](const WeightFormat& format) {
    const int64_t n = 640, k = 2048;
    return static_cast<double>(weight_layout(format, n, k).bytes()) * 8.0 /
        static_cast<double>(n * k);
  };
  constexpr double kHeader = 0.01; // 64 bytes a panel
  EXPECT_LE(bits(codes(8, 32, false)), 8.5 + kHeader); // Q8_0
  EXPECT_LE(bits(codes(5, 32, false)), 5.5 + kHeader); // Q5_0
  EXPECT_LE(bits(codes(4, 32, false)), 4.5 + kHeader); // Q4_0
  EXPECT_LE(bits(codes(4, 32, true)), 4.5 + 0.5 + kHeader); // Q4_K
  EXPECT_LE(bits(codes(5, 32, true)), 5.5 + 0.5 + kHeader); // Q5_K
  EXPECT_LE(bits(codes(6, 16, false)), 6.5625 + 0.5); // Q6_K
  EXPECT_EQ(bits({.kind = Kind::kBf16}), 16.0);
}

TEST(Weight, KeepsEveryBitOfHalvesAndOfValues) {
  Executor executor(2);
  const int64_t n = 77, k = 45; // neither whole panels nor whole steps
  const auto at = [](int64_t row, int64_t i) {
    return static_cast<uint16_t>((row * 1009 + i) * 40503);
  };
  const Weight halves = Weight::pack_halves(
      n,
      k,
      [&](int64_t row, uint16_t* out) {
        for (int64_t i = 0; i < k; ++i) {
          out[i] = at(row, i);
        }
      },
      executor);
  const Weight values = Weight::pack_values(
      Kind::kF32,
      n,
      k,
      [&](int64_t row, float* out) {
        for (int64_t i = 0; i < k; ++i) {
          out[i] = bf16_to_f32(at(row, i));
        }
      },
      executor);
  std::vector<float> a(static_cast<size_t>(k)), b(static_cast<size_t>(k));
  for (int64_t row = 0; row < n; ++row) {
    halves.read_row(row, a.data());
    values.read_row(row, b.data());
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(f32_to_bf16(a[static_cast<size_t>(i)]), at(row, i));
    }
    ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
  }
}

void expect_refused(const WeightFormat& format, int64_t n, int64_t k) {
  Executor executor(1);
  try {
    if (format.kind == Kind::kCodes) {
      Weight::pack_codes(
          format, n, k, [](int64_t, const CodeRow&) {}, executor);
    } else {
      Weight::pack_values(
          format.kind, n, k, [](int64_t, float*) {}, executor);
    }
    ADD_FAILURE() << test::text(format) << " " << n << " x " << k;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  }
}

TEST(Weight, RefusesFormatsAndShapesOutOfRange) {
  expect_refused(codes(1, 32, false), 8, 32);
  expect_refused(codes(9, 32, false), 8, 32);
  expect_refused(codes(4, 8, false), 8, 32);
  expect_refused(codes(4, 48, false), 8, 96);
  expect_refused(codes(4, 64, false), 8, 96);
  expect_refused(codes(4, 32, false), 0, 32);
  expect_refused(codes(4, 32, false), 8, 0);
  expect_refused({.kind = Kind::kBf16}, -1, 32);
  expect_refused({.kind = Kind::kF32}, int64_t{1} << 31, int64_t{1} << 31);
}

TEST(Weight, RefusesScalesThatAreNotFinite) {
  Executor executor(2);
  for (float bad : {INFINITY, -INFINITY, NAN, 0x1p61f}) {
    Source source = Source::random(codes(4, 32, true), 70, 64, 6);
    source.scales[130] = bad;
    EXPECT_THROW(source.pack(executor), Error);
    source.scales[130] = 1.0f;
    source.offsets[130] = bad;
    EXPECT_THROW(source.pack(executor), Error);
  }
}

TEST(Weight, RefusesToReadARowItDoesNotHave) {
  Executor executor(1);
  const Weight weight =
      Source::random({.kind = Kind::kF32}, 3, 5, 7).pack(executor);
  float row[5];
  EXPECT_THROW(weight.read_row(3, row), Error);
  EXPECT_THROW(weight.read_row(-1, row), Error);
}

} // namespace
} // namespace holdfast::cpu
