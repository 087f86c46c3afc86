// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/bits.h"
#include "holdfast/env/cpu.h"
#include "holdfast/kernels/cpu/tile_product.h"
#include "tests/kernel_paths.h"

namespace holdfast::cpu {
namespace {

struct Operands {
  alignas(64) uint16_t a[512];
  alignas(64) uint16_t b[512];
  alignas(64) float c[256];
};

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

/// The definition, one output at a time.
void model(Operands& o, int rows) {
  for (int r = 0; r < rows; ++r) {
    for (int n = 0; n < 16; ++n) {
      float chain[2] = {0.0f, 0.0f};
      for (int k = 0; k < 32; ++k) {
        const float a = flushed(bf16_to_f32(o.a[32 * r + k]));
        const float b = flushed(bf16_to_f32(o.b[32 * (k / 2) + 2 * n + k % 2]));
        chain[k % 2] = flushed(std::fma(a, b, chain[k % 2]));
      }
      float& c = o.c[16 * r + n];
      c = flushed(flushed(c) + flushed(chain[0] + chain[1]));
    }
  }
}

enum class Range { kNear, kProductsNearLeast, kSubnormal, kAll };

uint16_t random_bf16(std::mt19937_64& random, Range range) {
  const uint64_t v = random();
  const auto pick = static_cast<int>(v >> 32 & 0xffff);
  int exponent = 0;
  switch (range) {
    case Range::kNear:
      exponent = 120 + pick % 12;
      break;
    case Range::kProductsNearLeast: // products around 2^-126
      exponent = 58 + pick % 10;
      break;
    case Range::kSubnormal:
      exponent = pick % 3 == 0 ? 0 : 62 + pick % 4;
      break;
    case Range::kAll: // without infinities
      exponent = pick % 190;
      break;
  }
  return static_cast<uint16_t>(
      (v & 0x8000u) | static_cast<unsigned>(exponent) << 7 | (v >> 16 & 0x7fu));
}

Operands random_operands(std::mt19937_64& random, Range range) {
  Operands o;
  for (auto& x : o.a) {
    x = random_bf16(random, range);
  }
  for (auto& x : o.b) {
    x = random_bf16(random, range);
  }
  for (auto& x : o.c) {
    const float near = bf16_to_f32(random_bf16(random, Range::kNear));
    // Sums around 2^-126 meet accumulators around 2^-126.
    x = range == Range::kNear ? near : near * 0x1p-125f;
  }
  return o;
}

using TileProduct = void (*)(const uint16_t*, const uint16_t*, int, float*);

void expect_model(TileProduct product) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1200; ++round) {
    const auto range = static_cast<Range>(round % 4);
    const Operands start = random_operands(random, range);
    const int rows = 1 + static_cast<int>(random() % 16);
    Operands expected = start;
    model(expected, rows);
    Operands got = start;
    product(got.a, got.b, rows, got.c);
    ASSERT_EQ(0, std::memcmp(expected.c, got.c, sizeof got.c))
        << "range " << static_cast<int>(range) << ", rows " << rows;
  }
}

/// Chains that come to 2^-126 - d: 24 bits round it up to 2^-126, or it is too
/// small, and zero.
void expect_decided_after_rounding(TileProduct product) {
  struct Case {
    float taken; // d is 2^-75 times this
    float expected;
  };
  constexpr float kLeast = 0x1p-126f;
  constexpr Case kCases[] = {
      {0x1p-75f, 0.0f}, // 2^-126 - 2^-150 has 24 bits
      {0x1.02p-76f, 0.0f}, // nearer to it than to 2^-126
      {0x1p-76f, kLeast}, // a tie, to even
      {0x1.fep-77f, kLeast},
      {0x1p-90f, kLeast},
  };
  Operands o{};
  const auto bf16 = [](float x) { return f32_to_bf16(x); };
  constexpr int kRows = 3;
  for (int r = 0; r < kRows; ++r) {
    for (int chain = 0; chain < 2; ++chain) { // k 0 and 2, or 1 and 3
      o.a[32 * r + chain] = bf16(0x1p-63f);
      o.a[32 * r + 2 + chain] = bf16(-0x1p-75f);
    }
  }
  for (int n = 0; n < 16; ++n) { // the odd chain of the last columns
    const int chain = n / 8;
    o.b[2 * n + chain] = bf16(0x1p-63f);
    o.b[32 + 2 * n + chain] = bf16(kCases[n % 8 % 5].taken);
  }
  product(o.a, o.b, kRows, o.c);
  for (int r = 0; r < kRows; ++r) {
    for (int n = 0; n < 16; ++n) {
      EXPECT_EQ(o.c[16 * r + n], kCases[n % 8 % 5].expected) << r << " " << n;
    }
  }
}

TEST(TileProduct, FindsAResultTooSmallOnlyOnceItIsRounded) {
  expect_decided_after_rounding(tile_product_plain);
#if defined(__x86_64__) || defined(__aarch64__)
  if (test::runs_vec256()) {
    expect_decided_after_rounding(tile_product_vec256);
  }
#endif
#if defined(__x86_64__)
  if (runs_here(KernelPath::kAvx2)) {
    expect_decided_after_rounding(tile_product_avx2);
  }
  if (runs_here(KernelPath::kAvx512)) {
    expect_decided_after_rounding(tile_product_avx512);
  }
  if (runs_here(KernelPath::kAmx)) {
    expect_decided_after_rounding(tile_product_amx);
  }
#endif
}

TEST(TileProduct, PlainFormEqualsItsDefinitionInEveryBit) {
  expect_model(tile_product_plain);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(TileProduct, VectorFormEqualsTheDefinitionInEveryBit) {
  if (!test::runs_vec256()) {
    GTEST_SKIP() << "neither AVX2 nor NEON here";
  }
  expect_model(tile_product_vec256);
}
#endif

#if defined(__x86_64__)
TEST(TileProduct, Avx2FormEqualsTheDefinitionInEveryBit) {
  if (!runs_here(KernelPath::kAvx2)) {
    GTEST_SKIP() << "no AVX2 here";
  }
  expect_model(tile_product_avx2);
}

TEST(TileProduct, Avx512FormEqualsTheDefinitionInEveryBit) {
  if (!runs_here(KernelPath::kAvx512)) {
    GTEST_SKIP() << "no AVX-512 here";
  }
  expect_model(tile_product_avx512);
}

TEST(TileProduct, AmxFormEqualsTheDefinitionInEveryBit) {
  if (!runs_here(KernelPath::kAmx)) {
    GTEST_SKIP() << "no AMX here";
  }
  expect_model(tile_product_amx);
}
#endif

} // namespace
} // namespace holdfast::cpu
