// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/linear_runs.h"

namespace holdfast::cpu {
namespace {

using test::Floats;
using test::Kind;
using test::same_bits_everywhere;
using test::Source;

constexpr WeightFormat codes(int bits, int group, bool offsets) {
  return {
      .kind = Kind::kCodes, .bits = bits, .group = group, .offsets = offsets};
}

/// The largest |x| of the 32 that x[i] belongs to.
double largest_near(const float* x, int64_t i) {
  double most = 0.0;
  for (int64_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
    most = std::max<double>(most, std::fabs(x[j]));
  }
  return most;
}

/// y against sums in f64 over the source's own weights. An activation is off by
/// half of 2^-13 of its 32's largest, a scale by 2^-11 of itself (fp16).
void expect_exact(const Source& s, const Floats& x, const Floats& y) {
  const int64_t m = std::ssize(x) / s.k;
  for (int64_t row = 0; row < m; ++row) {
    const float* a = x.data() + row * s.k;
    for (int64_t column = 0; column < s.n; ++column) {
      double sum = 0.0, bound = 1e-6;
      for (int64_t i = 0; i < s.k; ++i) {
        const double w = s.value(column, i);
        const double parts =
            std::fabs(s.scaled(column, i)) + std::fabs(s.offset(column, i));
        sum += w * a[i];
        bound += std::fabs(w) * largest_near(a, i) * 0x1p-13 +
            parts * std::fabs(a[i]) * 0x1p-12;
      }
      ASSERT_NEAR(y[static_cast<size_t>(row * s.n + column)], sum, bound);
    }
  }
}

TEST(LinearExact, IsRightToThePrecisionOfItsActivationsAndScales) {
  Executor executor(2);
  for (const WeightFormat& format :
       {codes(8, 32, false), codes(8, 64, false), codes(8, 128, true)}) {
    for (const auto& [n, m] :
         {std::pair<int64_t, int64_t>{65, 1},
          {130, 2},
          {64, 3},
          {200, 8},
          {70, 21}}) {
      const Source source = Source::random(format, n, 384, 31);
      const Weight weight = source.pack(executor).exact();
      ASSERT_TRUE(weight.format().exact);
      const Weight* weights[] = {&weight};
      const Floats x = test::random_values(m * 384, 32);
      const Floats y =
          same_bits_everywhere({.x = x.data(), .m = m, .weights = weights}, n);
      expect_exact(source, x, y);
    }
  }
}

TEST(LinearExact, NormalisesItsRowsAndAddsTheResidual) {
  Executor executor(2);
  const int64_t n = 96, k = 64, m = 11;
  const Source source = Source::random(codes(8, 32, false), n, k, 33);
  const Weight weight = source.pack(executor).exact();
  const Weight* weights[] = {&weight};
  const Floats x = test::random_values(m * k, 34);
  const Floats scale = test::random_values(k, 35);
  const Floats residual = test::random_values(m * n, 36);
  Floats a;
  for (int64_t row = 0; row < m; ++row) {
    double squares = 0.0;
    for (int64_t i = 0; i < k; ++i) {
      squares += std::pow(x[static_cast<size_t>(row * k + i)], 2.0);
    }
    for (int64_t i = 0; i < k; ++i) {
      a.push_back(static_cast<float>(
          x[static_cast<size_t>(row * k + i)] * scale[static_cast<size_t>(i)] /
          std::sqrt(squares / k + 1e-5)));
    }
  }
  LinearJob job{.x = x.data(), .m = m, .weights = weights};
  job.norm = {.weight = scale.data(), .eps = 1e-5f};
  job.residual = residual.data();
  Floats y = same_bits_everywhere(job, n);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] -= residual[i];
  }
  expect_exact(source, a, y);
}

TEST(LinearExact, MakesARowOfNumbersThatAreNotFiniteNotANumberAndNoOther) {
  Executor executor(1);
  const int64_t n = 70, k = 96, m = 5;
  const Weight weight =
      Source::random(codes(8, 32, false), n, k, 37).pack(executor).exact();
  const Weight* weights[] = {&weight};
  Floats x = test::random_values(m * k, 38);
  const Floats clean = test::run(
      {.x = x.data(), .m = m, .weights = weights},
      n,
      executor,
      best_kernel_path());
  x[static_cast<size_t>(1 * k + 3)] = INFINITY;
  x[static_cast<size_t>(3 * k + 90)] = NAN;
  for (KernelPath path : test::paths()) {
    const Floats y = test::run(
        {.x = x.data(), .m = m, .weights = weights}, n, executor, path);
    for (int64_t i = 0; i < m * n; ++i) {
      const auto at = static_cast<size_t>(i);
      if (i / n == 1 || i / n == 3) {
        ASSERT_TRUE(std::isnan(y[at])) << name(path);
      } else {
        ASSERT_EQ(y[at], clean[at]) << name(path);
      }
    }
  }
}

TEST(LinearExact, SharesTheBytesOfItsWeightAndLeavesOtherFormatsAlone) {
  Executor executor(1);
  const Weight weight =
      Source::random(codes(8, 32, false), 64, 64, 1).pack(executor);
  EXPECT_EQ(weight.exact().data(), weight.data());
  EXPECT_FALSE(weight.format().exact);
  for (const WeightFormat& format :
       {codes(8, 16, false),
        codes(6, 32, false),
        WeightFormat{.kind = Kind::kBf16}}) {
    EXPECT_FALSE(Source::random(format, 64, 64, 2)
                     .pack(executor)
                     .exact()
                     .format()
                     .exact);
  }
}

TEST(LinearExact, RefusesCompanyAndNormsBehindIt) {
  Executor executor(1);
  const Weight weight =
      Source::random(codes(8, 32, false), 64, 64, 1).pack(executor).exact();
  const Floats x(64), scale(128);
  Floats y(128);
  const Weight* two[] = {&weight, &weight};
  LinearJob job{.x = x.data(), .m = 1, .weights = two, .y = y.data()};
  EXPECT_THROW(linear(job, executor, KernelPath::kPlain), Error);
  job.gate = Gate::kSilu;
  EXPECT_THROW(linear(job, executor, KernelPath::kPlain), Error);
  job = {.x = x.data(), .m = 1, .weights = {two, 1}, .y = y.data()};
  job.post_norm.weight = scale.data();
  EXPECT_THROW(linear(job, executor, KernelPath::kPlain), Error);
}

} // namespace
} // namespace holdfast::cpu
