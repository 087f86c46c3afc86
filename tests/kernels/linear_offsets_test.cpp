// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// scale * code + offset is rounded once, however far apart the two are: beyond
// some twelve powers of two their sum is not exact in f32.

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/kernels/linear_runs.h"

namespace holdfast::cpu {
namespace {

using test::Floats;
using test::Kind;
using test::Source;

constexpr int64_t kK = 64;
constexpr int kApart = 18; // powers of two, either way

/// Eight columns of each distance, as many as a register takes at once, then as
/// many of any; whichever is larger is near 1.
Source spread(int bits) {
  constexpr int64_t kEach = 8 * (2 * kApart + 1);
  Source source = Source::random(
      {.kind = Kind::kCodes, .bits = bits, .group = 32, .offsets = true},
      2 * kEach,
      kK,
      static_cast<uint64_t>(bits));
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> mantissa(0.5f, 1.0f);
  const int64_t groups = kK / 32;
  for (int64_t i = 0; i < source.n * groups; ++i) {
    const int64_t row = i / groups;
    const int apart = row < kEach
        ? static_cast<int>(row / 8) - kApart
        : static_cast<int>(random() % (2 * kApart + 1)) - kApart;
    const auto at = static_cast<size_t>(i);
    source.scales[at] = std::ldexp(
        random() % 2 ? mantissa(random) : -mantissa(random),
        -std::max(apart, bits));
    source.offsets[at] = std::ldexp(
        random() % 2 ? mantissa(random) : -mantissa(random),
        apart - std::max(apart, bits));
    if (random() % 16 == 0) {
      (random() % 2 ? source.scales : source.offsets)[at] = 0.0f;
    }
  }
  return source;
}

TEST(LinearOffsets, AreAddedWithOneRoundingHoweverFarFromTheirScales) {
  Executor executor(2);
  Floats x(kK * kK, 0.0f); // row i gives the weights at k = i
  for (int64_t i = 0; i < kK; ++i) {
    x[static_cast<size_t>(i * kK + i)] = 1.0f;
  }
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const Source source = spread(bits);
    const Weight weight = source.pack(executor);
    const Weight* weights[] = {&weight};
    const LinearJob job{.x = x.data(), .m = kK, .weights = weights};
    std::vector<int> exponents;
    for (int64_t row = 0; row < source.n; ++row) {
      exponents.push_back(
          row % 64 == 0 ? source.exponent(row) : exponents.back());
    }
    for (const KernelPath path : test::paths()) {
      const Floats y = test::run(job, source.n, executor, path);
      for (int64_t i = 0; i < kK; ++i) {
        for (int64_t row = 0; row < source.n; ++row) {
          ASSERT_EQ(
              y[static_cast<size_t>(i * source.n + row)],
              source.used(row, i, exponents[static_cast<size_t>(row)]))
              << name(path) << ", " << bits << " bits, row " << row << ", k "
              << i;
        }
      }
    }
  }
}

} // namespace
} // namespace holdfast::cpu
