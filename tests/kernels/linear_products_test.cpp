// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/linear_runs.h"

namespace holdfast::cpu {
namespace {

using test::Kind;
using test::paths;
using test::Source;

constexpr int64_t kMostRows = 520; // more than a block of 512
/// So many rows for one shape alone: the others are as right with fewer.
constexpr int64_t most_rows(int64_t n) {
  return n == 65 ? kMostRows : 70;
}

std::vector<float> product(
    const Weight& weight,
    const float* x,
    int64_t m,
    Executor& executor,
    KernelPath path) {
  const Weight* weights[] = {&weight};
  // Poison: a value that is never written is never right.
  std::vector<float> y(static_cast<size_t>(m * weight.n()), NAN);
  linear({.x = x, .m = m, .weights = weights, .y = y.data()}, executor, path);
  return y;
}

class LinearProducts : public testing::TestWithParam<WeightFormat> {
 protected:
  static std::vector<std::pair<int64_t, int64_t>> shapes() {
    const WeightFormat& f = GetParam();
    const int64_t group = f.kind == Kind::kCodes ? f.group : 1;
    std::vector<std::pair<int64_t, int64_t>> all;
    for (auto [n, k] :
         {std::pair<int64_t, int64_t>{1, 32},
          {63, 96},
          {64, 336},
          {65, 320},
          {257, 272}}) {
      all.push_back({n, std::max(group, k / group * group)});
    }
    return all;
  }
};

TEST_P(LinearProducts, AreWithinRoundingOfTheExactSumOfTheRoundedOperands) {
  Executor executor(2);
  for (auto [n, k] : shapes()) {
    const Source source = Source::random(GetParam(), n, k, 11);
    const Weight weight = source.pack(executor);
    const int64_t most = most_rows(n);
    const auto x = test::random_values(most * k, 5);
    const auto y =
        product(weight, x.data(), most, executor, best_kernel_path());
    const bool f32 = GetParam().kind == Kind::kF32;
    for (int64_t row = 0; row < n; ++row) {
      const int exponent =
          GetParam().kind == Kind::kCodes ? source.exponent(row) : 0;
      std::vector<double> used, values;
      for (int64_t i = 0; i < k; ++i) {
        used.push_back(source.used(row, i, exponent));
        values.push_back(source.value(row, i));
      }
      for (int64_t m : {int64_t{0}, int64_t{17}, most - 1}) {
        double sum = 0.0, magnitude = 0.0, variance = 0.0, exact = 0.0;
        for (size_t i = 0; i < used.size(); ++i) {
          const float a = x[static_cast<size_t>(m * k) + i];
          const double rounded_a = f32 ? a : bf16_to_f32(f32_to_bf16(a));
          sum += rounded_a * used[i];
          magnitude += std::fabs(rounded_a * used[i]);
          exact += a * values[i];
          variance += a * a * values[i] * values[i];
        }
        const double got = y[static_cast<size_t>(m * n + row)];
        ASSERT_NEAR(got, sum, magnitude * 0x1p-21 + 1e-12)
            << "n " << n << " k " << k << " row " << row << " m " << m;
        // Against the source's own values: two roundings of 2^-9 a term, and
        // offsets that cancel most of a product.
        ASSERT_NEAR(got, exact, 6.0 * 0x1p-8 * std::sqrt(variance) + 2e-3);
      }
    }
  }
}

TEST_P(LinearProducts, GiveARowTheSameBitsAmongAnyNumberOfRowsAndThreads) {
  Executor one(1), two(2), three(3);
  for (auto [n, k] : shapes()) {
    const Weight weight = Source::random(GetParam(), n, k, 12).pack(two);
    const int64_t most = most_rows(n);
    const auto x = test::random_values(most * k, 6);
    const auto all = product(weight, x.data(), most, two, best_kernel_path());
    const auto expect_same = [&](int64_t m, Executor& executor) {
      const int64_t first = (most - m) / 2;
      const auto y = product(
          weight, x.data() + first * k, m, executor, best_kernel_path());
      ASSERT_EQ(
          0,
          std::memcmp(
              y.data(), all.data() + first * n, y.size() * sizeof(float)))
          << "n " << n << " k " << k << " m " << m << " threads "
          << executor.threads();
    };
    for (int64_t m : {1, 2, 3, 15, 16, 17, 33, 64, 65, 257}) {
      if (m <= most) {
        expect_same(m, one);
      }
    }
    for (int64_t m : {int64_t{1}, int64_t{16}, most}) {
      expect_same(m, one);
      expect_same(m, three);
    }
  }
}

TEST_P(LinearProducts, HaveTheSameBitsOnEveryPath) {
  Executor executor(2);
  for (auto [n, k] : shapes()) {
    if (n > 65) {
      continue; // the plain form is slow, and wider is only more panels
    }
    const Weight weight = Source::random(GetParam(), n, k, 13).pack(executor);
    const auto x = test::random_values(17 * k, 7);
    for (int64_t m : {3, 17}) {
      const auto best =
          product(weight, x.data(), m, executor, best_kernel_path());
      for (KernelPath path : paths()) {
        const auto y = product(weight, x.data(), m, executor, path);
        ASSERT_EQ(
            0, std::memcmp(y.data(), best.data(), y.size() * sizeof(float)))
            << "n " << n << " k " << k << " m " << m << " " << name(path);
      }
    }
  }
}

constexpr WeightFormat codes(int bits, int group, bool offsets) {
  return {
      .kind = Kind::kCodes, .bits = bits, .group = group, .offsets = offsets};
}

INSTANTIATE_TEST_SUITE_P(
    Formats,
    LinearProducts,
    testing::Values(
        WeightFormat{.kind = Kind::kF32},
        WeightFormat{.kind = Kind::kBf16},
        codes(2, 16, true),
        codes(2, 32, false),
        codes(3, 16, false),
        codes(3, 64, true),
        codes(4, 32, true),
        codes(4, 32, false),
        codes(4, 128, false),
        codes(5, 32, false),
        codes(5, 32, true),
        codes(6, 16, false),
        codes(6, 64, true),
        codes(7, 32, false),
        codes(7, 128, true),
        codes(8, 32, false),
        codes(8, 16, true),
        codes(8, 64, true)),
    [](const auto& info) { return test::text(info.param); });

} // namespace
} // namespace holdfast::cpu
