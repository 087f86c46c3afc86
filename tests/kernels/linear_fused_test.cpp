// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/linear_runs.h"

namespace holdfast::cpu {
namespace {

using test::expect_same_bits;
using test::Floats;
using test::Kind;
using test::run;
using test::same_bits_everywhere;
using test::Source;

constexpr WeightFormat codes(int bits, int group, bool offsets) {
  return {
      .kind = Kind::kCodes, .bits = bits, .group = group, .offsets = offsets};
}

/// Row by row in f64: y * norm / sqrt(mean(y^2) + eps).
Floats normed(const Floats& x, int64_t width, const RmsNorm& norm) {
  Floats y(x.size());
  for (size_t row = 0; row < x.size(); row += static_cast<size_t>(width)) {
    double squares = 0.0;
    for (int64_t i = 0; i < width; ++i) {
      const double v = x[row + static_cast<size_t>(i)];
      squares += v * v;
    }
    const double scale =
        1.0 / std::sqrt(squares / static_cast<double>(width) + norm.eps);
    for (int64_t i = 0; i < width; ++i) {
      const size_t at = row + static_cast<size_t>(i);
      y[at] = static_cast<float>(x[at] * scale * norm.weight[i]);
    }
  }
  return y;
}

void expect_near(const Floats& got, const Floats& expected, double bound) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], bound) << "at " << i;
  }
}

TEST(LinearFused, LaysProjectionsOfMixedFormatsSideBySide) {
  Executor executor(2);
  const int64_t k = 192, m = 37;
  const Weight q =
      Source::random(codes(5, 32, false), 130, k, 1).pack(executor);
  const Weight key =
      Source::random(codes(4, 32, true), 64, k, 2).pack(executor);
  const Weight v = Source::random(codes(6, 16, false), 70, k, 3).pack(executor);
  const Weight f = Source::random({.kind = Kind::kF32}, 5, k, 4).pack(executor);
  const auto x = test::random_values(m * k, 5);
  const Weight* all[] = {&q, &key, &v, &f};
  const int64_t n = 130 + 64 + 70 + 5;
  const Floats y =
      same_bits_everywhere({.x = x.data(), .m = m, .weights = all}, n);
  int64_t column = 0;
  for (const Weight* weight : all) {
    const Weight* one[] = {weight};
    const Floats alone =
        run({.x = x.data(), .m = m, .weights = one},
            weight->n(),
            executor,
            best_kernel_path());
    for (int64_t row = 0; row < m; ++row) {
      ASSERT_EQ(
          0,
          std::memcmp(
              alone.data() + row * weight->n(),
              y.data() + row * n + column,
              static_cast<size_t>(weight->n()) * sizeof(float)));
    }
    column += weight->n();
  }
}

TEST(LinearFused, NormalisesActivationsBeforeTheProduct) {
  Executor executor(2);
  const int64_t k = 320, n = 96, m = 21;
  const auto x = test::random_values(m * k, 6);
  const auto scale = test::random_values(k, 7);
  const RmsNorm norm{.weight = scale.data(), .eps = 1e-5f};
  for (const WeightFormat& format :
       {codes(8, 32, false), WeightFormat{.kind = Kind::kF32}}) {
    const Weight w = Source::random(format, n, k, 8).pack(executor);
    const Weight* weights[] = {&w};
    const Floats got = same_bits_everywhere(
        {.x = x.data(), .m = m, .norm = norm, .weights = weights}, n);
    const Floats a = normed(x, k, norm);
    const Floats expected =
        run({.x = a.data(), .m = m, .weights = weights},
            n,
            executor,
            best_kernel_path());
    // A norm that differs in its last bit may round an activation the other
    // way: 2^-8 of one of 320 terms.
    expect_near(got, expected, 0.02);
  }
}

TEST(LinearFused, GatesTheFirstWeightsOutputByItsActivation) {
  Executor executor(2);
  const int64_t k = 128, n = 200, m = 19;
  const Weight gate =
      Source::random(codes(5, 32, false), n, k, 9).pack(executor);
  const Weight up = Source::random(codes(4, 64, true), n, k, 10).pack(executor);
  const auto x = test::random_values(m * k, 11);
  const Weight* both[] = {&gate, &up};
  const Floats plain =
      run({.x = x.data(), .m = m, .weights = both},
          2 * n,
          executor,
          best_kernel_path());
  for (Gate kind : {Gate::kGeluTanh, Gate::kSilu}) {
    const Floats got = same_bits_everywhere(
        {.x = x.data(), .m = m, .weights = both, .gate = kind}, n);
    Floats expected;
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t i = 0; i < n; ++i) {
        const double g = plain[static_cast<size_t>(row * 2 * n + i)];
        const double u = plain[static_cast<size_t>(row * 2 * n + n + i)];
        const double inner = 0.7978845608028654 * (g + 0.044715 * g * g * g);
        const double act = kind == Gate::kSilu
            ? g / (1.0 + std::exp(-g))
            : 0.5 * g * (1.0 + std::tanh(inner));
        expected.push_back(static_cast<float>(act * u));
      }
    }
    expect_near(got, expected, 1e-4);
  }
}

TEST(LinearFused, AddsABiasToEachColumnBeforeTheResidual) {
  Executor executor(2);
  const int64_t k = 96, m = 37;
  const Weight q =
      Source::random(codes(8, 32, false), 130, k, 19).pack(executor);
  const Weight v =
      Source::random({.kind = Kind::kF32}, 70, k, 20).pack(executor);
  const auto x = test::random_values(m * k, 21);
  const auto bias = test::random_values(200, 22);
  const auto residual = test::random_values(m * 200, 23);
  const Weight* both[] = {&q, &v};
  LinearJob job{.x = x.data(), .m = m, .weights = both};
  Floats expected = run(job, 200, executor, best_kernel_path());
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = residual[i] + (expected[i] + bias[i % 200]);
  }
  job.bias = bias.data();
  job.residual = residual.data();
  expect_same_bits(same_bits_everywhere(job, 200), expected, "bias");
}

TEST(LinearFused, ScalesEachWeightsProductsRoundedOnce) {
  Executor executor(2);
  const int64_t k = 96, m = 37, n = 200;
  const Weight q =
      Source::random(codes(8, 32, false), 70, k, 32).pack(executor);
  const Weight key =
      Source::random({.kind = Kind::kBf16}, 60, k, 33).pack(executor);
  const Weight v =
      Source::random({.kind = Kind::kF32}, 70, k, 34).pack(executor);
  const auto x = test::random_values(m * k, 35);
  const Weight* all[] = {&q, &key, &v};
  const float scales[] = {0.7f, 2.5f, -3.1f};
  LinearJob job{.x = x.data(), .m = m, .weights = all};
  Floats expected = run(job, n, executor, best_kernel_path());
  for (size_t i = 0; i < expected.size(); ++i) {
    const size_t column = i % n;
    expected[i] *= scales[column < 70 ? 0 : column < 130 ? 1 : 2];
  }
  job.scales = scales;
  expect_same_bits(same_bits_everywhere(job, n), expected, "scales");
}

TEST(LinearFused, AddsToEachRowBehindTheBiasAndBeforeTheResidual) {
  Executor executor(2);
  const int64_t k = 96, m = 37;
  const Weight q =
      Source::random(codes(4, 32, true), 130, k, 36).pack(executor);
  const Weight v =
      Source::random({.kind = Kind::kBf16}, 70, k, 37).pack(executor);
  const auto x = test::random_values(m * k, 38);
  const auto bias = test::random_values(200, 39);
  const auto added = test::random_values(m * 200, 40);
  const auto residual = test::random_values(m * 200, 41);
  const Weight* both[] = {&q, &v};
  LinearJob job{.x = x.data(), .m = m, .weights = both};
  Floats expected = run(job, 200, executor, best_kernel_path());
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = residual[i] + ((expected[i] + bias[i % 200]) + added[i]);
  }
  job.bias = bias.data();
  job.added = added.data();
  job.residual = residual.data();
  expect_same_bits(same_bits_everywhere(job, 200), expected, "added");
}

TEST(LinearFused, AddsToBothHalvesBeforeTheGate) {
  Executor executor(2);
  const int64_t k = 64, n = 150, m = 19;
  const Weight gate =
      Source::random(codes(5, 32, false), n, k, 42).pack(executor);
  const Weight up =
      Source::random({.kind = Kind::kF32}, n, k, 43).pack(executor);
  const auto x = test::random_values(m * k, 44);
  const auto added = test::random_values(m * 2 * n, 45);
  const Weight* both[] = {&gate, &up};
  LinearJob job{.x = x.data(), .m = m, .weights = both};
  job.added = added.data();
  const Floats plain = run(job, 2 * n, executor, best_kernel_path());
  job.gate = Gate::kSilu;
  const Floats got = same_bits_everywhere(job, n);
  Floats expected;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t i = 0; i < n; ++i) {
      const double y = plain[static_cast<size_t>(row * 2 * n + i)];
      const double u = plain[static_cast<size_t>(row * 2 * n + n + i)];
      expected.push_back(static_cast<float>(y / (1.0 + std::exp(-y)) * u));
    }
  }
  expect_near(got, expected, 1e-4);
}

TEST(LinearFused, NormalisesWhatABiasWasAddedTo) {
  Executor executor(2);
  const int64_t k = 64, n = 100, m = 21;
  const Weight w =
      Source::random({.kind = Kind::kF32}, n, k, 24).pack(executor);
  const auto x = test::random_values(m * k, 25);
  const auto bias = test::random_values(n, 26);
  const auto scale = test::random_values(n, 27);
  const RmsNorm norm{.weight = scale.data(), .eps = 1e-6f};
  const Weight* weights[] = {&w};
  LinearJob job{.x = x.data(), .m = m, .weights = weights};
  job.bias = bias.data();
  const Floats added = run(job, n, executor, best_kernel_path());
  job.post_norm = norm;
  expect_near(same_bits_everywhere(job, n), normed(added, n, norm), 1e-4);
}

TEST(LinearFused, ClampsBothHalvesOfASwigluBehindTheirBiases) {
  Executor executor(2);
  const int64_t k = 64, n = 150, m = 19;
  const Weight gate =
      Source::random({.kind = Kind::kF32}, n, k, 28).pack(executor);
  const Weight up =
      Source::random({.kind = Kind::kF32}, n, k, 29).pack(executor);
  auto x = test::random_values(m * k, 30);
  for (float& value : x) {
    value *= 15.0f; // sums around 6: many are clamped
  }
  const auto bias = test::random_values(2 * n, 31);
  const Weight* both[] = {&gate, &up};
  LinearJob job{.x = x.data(), .m = m, .weights = both};
  job.bias = bias.data();
  const Floats plain = run(job, 2 * n, executor, best_kernel_path());
  job.gate = Gate::kClampedSwiglu;
  const Floats got = same_bits_everywhere(job, n);
  int clamped = 0;
  Floats expected;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t i = 0; i < n; ++i) {
      const double y = plain[static_cast<size_t>(row * 2 * n + i)];
      const double u = plain[static_cast<size_t>(row * 2 * n + n + i)];
      const double g = std::min(y, 7.0);
      clamped += y > 7.0 || std::abs(u) > 7.0;
      expected.push_back(static_cast<float>(
          g / (1.0 + std::exp(-1.702 * g)) * (std::clamp(u, -7.0, 7.0) + 1.0)));
    }
  }
  EXPECT_GT(clamped, m * n / 10);
  expect_near(got, expected, 1e-4);
}

TEST(LinearFused, NormalisesOutputsThenAddsTheResidual) {
  Executor executor(2);
  const int64_t k = 64, m = 40;
  for (int64_t n : {1, 64, 100, 640}) {
    const Weight w =
        Source::random(codes(8, 64, false), n, k, 12).pack(executor);
    const Weight* weights[] = {&w};
    const auto x = test::random_values(m * k, 13);
    const auto residual = test::random_values(m * n, 14);
    const auto scale = test::random_values(n, 15);
    const RmsNorm norm{.weight = scale.data(), .eps = 1e-6f};
    const Floats plain =
        run({.x = x.data(), .m = m, .weights = weights},
            n,
            executor,
            best_kernel_path());
    const auto added = [&](Floats y) {
      for (size_t i = 0; i < y.size(); ++i) {
        y[i] += residual[i];
      }
      return y;
    };
    LinearJob job{.x = x.data(), .m = m, .weights = weights};
    job.residual = residual.data();
    expect_same_bits(same_bits_everywhere(job, n), added(plain), "residual");
    job.post_norm = norm;
    expect_near(
        same_bits_everywhere(job, n), added(normed(plain, n, norm)), 1e-4);
    job.residual = nullptr;
    expect_near(same_bits_everywhere(job, n), normed(plain, n, norm), 1e-4);
  }
}

TEST(LinearFused, KeepsARowsBitsAcrossThePassesOfALongBatch) {
  Executor executor(2);
  const int64_t k = 32, n = 70, m = 2048 + 33;
  const Weight w = Source::random(codes(4, 32, true), n, k, 16).pack(executor);
  const Weight* weights[] = {&w};
  const auto x = test::random_values(m * k, 17);
  const auto residual = test::random_values(m * n, 18);
  const auto added = test::random_values(m * n, 19);
  LinearJob job{.x = x.data(), .m = m, .weights = weights};
  job.residual = residual.data();
  job.added = added.data();
  const Floats all = run(job, n, executor, best_kernel_path());
  job.m = 40;
  job.x += (m - 40) * k;
  job.residual += (m - 40) * n;
  job.added += (m - 40) * n;
  const Floats last = run(job, n, executor, best_kernel_path());
  EXPECT_EQ(
      0,
      std::memcmp(
          last.data(), all.data() + (m - 40) * n, last.size() * sizeof(float)));
}

void expect_refused(const LinearJob& job) {
  Executor executor(1);
  try {
    linear(job, executor, KernelPath::kPlain);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()).rfind("[linear] expected ", 0), 0u)
        << error.what();
  }
}

TEST(LinearFused, RefusesJobsWhoseShapesDoNotFit) {
  Executor executor(1);
  const Weight a =
      Source::random({.kind = Kind::kBf16}, 8, 32, 1).pack(executor);
  const Weight b =
      Source::random({.kind = Kind::kBf16}, 8, 64, 2).pack(executor);
  const Weight c =
      Source::random({.kind = Kind::kBf16}, 9, 32, 3).pack(executor);
  const Floats x(64);
  Floats y(64);
  const Weight* one[] = {&a};
  const Weight* other_k[] = {&a, &b};
  const Weight* other_n[] = {&a, &c};
  const Weight* null[] = {nullptr};
  expect_refused({.x = x.data(), .m = 1, .y = y.data()});
  expect_refused({.x = x.data(), .m = -1, .weights = one, .y = y.data()});
  expect_refused({.x = x.data(), .m = 1, .weights = null, .y = y.data()});
  expect_refused({.x = x.data(), .m = 1, .weights = other_k, .y = y.data()});
  expect_refused({.m = 1, .weights = one, .y = y.data()});
  expect_refused({.x = x.data(), .m = 1, .weights = one});
  LinearJob gated{.x = x.data(), .m = 1, .weights = one, .y = y.data()};
  gated.gate = Gate::kSilu;
  expect_refused(gated);
  gated.weights = other_n;
  expect_refused(gated);
  const float scales[] = {1.0f, 2.0f};
  LinearJob scaled{.x = x.data(), .m = 1, .weights = one, .y = y.data()};
  scaled.scales = scales;
  expect_refused(scaled);
  for (float value : y) {
    EXPECT_EQ(value, 0.0f);
  }
  linear({.m = 0, .weights = one}, executor, KernelPath::kPlain);
}

} // namespace
} // namespace holdfast::cpu
