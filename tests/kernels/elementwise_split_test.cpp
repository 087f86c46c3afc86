// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"
#include "holdfast/kernels/cpu/elementwise.h"
#include "tests/kernel_paths.h"

namespace holdfast::cpu {
namespace {

struct Shape {
  int64_t tokens = 1;
  int64_t query_heads = 2;
  int64_t kv_heads = 1;
  int64_t head_dim = 64;
  Rope rope{.dims = 64};
  bool norms = true;
};

/// Inputs of a job and room for its outputs.
struct Case {
  explicit Case(const Shape& s, uint32_t seed = 1) : shape(s) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, int64_t count) {
      values.resize(count);
      for (auto& value : values) {
        value = normal(random);
      }
    };
    fill(qkv, s.tokens * (s.query_heads + 2 * s.kv_heads) * s.head_dim);
    fill(query_weight, s.head_dim);
    fill(key_weight, s.head_dim);
    for (int64_t t = 0; t < s.tokens; ++t) {
      positions.push_back(static_cast<int32_t>(random() % (1u << 20)));
    }
  }

  SplitHeadsJob job() {
    const Shape& s = shape;
    q.assign(s.tokens * s.query_heads * s.head_dim, NAN);
    k.assign(s.tokens * s.kv_heads * s.head_dim, NAN);
    v.assign(s.tokens * s.kv_heads * s.head_dim, NAN);
    SplitHeadsJob job;
    job.qkv = qkv.data();
    job.tokens = s.tokens;
    job.query_heads = s.query_heads;
    job.kv_heads = s.kv_heads;
    job.head_dim = s.head_dim;
    job.rope = s.rope;
    job.positions = positions.data();
    job.q = q.data();
    job.k = k.data();
    job.v = v.data();
    if (s.norms) {
      job.query_norm = {.weight = query_weight.data(), .eps = 1e-6f};
      job.key_norm = {.weight = key_weight.data(), .eps = 1e-5f};
    }
    return job;
  }

  void run(KernelPath path, int threads = 1) {
    Executor executor(threads);
    split_heads(job(), executor, path);
  }

  Shape shape;
  std::vector<float> qkv, query_weight, key_weight, q, k, v;
  std::vector<int32_t> positions;
};

/// One head in f64.
std::vector<double> exact_head(
    const float* x,
    const RmsNorm& norm,
    const Shape& shape,
    int32_t position) {
  const int64_t dim = shape.head_dim;
  std::vector<double> y(x, x + dim);
  if (norm.weight != nullptr) {
    double sum = 0.0;
    for (const double value : y) {
      sum += value * value;
    }
    const double scale =
        1.0 / std::sqrt(sum / static_cast<double>(dim) + double{norm.eps});
    for (int64_t i = 0; i < dim; ++i) {
      y[i] *= scale * norm.weight[i];
    }
  }
  const int64_t half = shape.rope.dims / 2;
  for (int64_t i = 0; i < half; ++i) {
    const double angle = position * double{shape.rope.scale} *
        std::pow(double{shape.rope.base},
                 -2.0 * static_cast<double>(i) /
                     static_cast<double>(shape.rope.dims)) /
        (shape.rope.divisors ? (*shape.rope.divisors)[i] : 1.0);
    const double a = shape.rope.magnitude * y[i];
    const double b = shape.rope.magnitude * y[i + half];
    y[i] = a * std::cos(angle) - b * std::sin(angle);
    y[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
  return y;
}

void expect_exact(Case& c) {
  const SplitHeadsJob job = c.job();
  Executor executor(1);
  split_heads(job, executor, best_kernel_path());
  const Shape& s = c.shape;
  const float* x = c.qkv.data();
  for (int64_t t = 0; t < s.tokens; ++t) {
    for (int64_t h = 0; h < s.query_heads + 2 * s.kv_heads; ++h) {
      const int64_t kv = h - s.query_heads;
      const float* y = kv < 0 ? &c.q[(t * s.query_heads + h) * s.head_dim]
          : kv < s.kv_heads   ? &c.k[(t * s.kv_heads + kv) * s.head_dim]
                              : nullptr;
      if (y == nullptr) {
        const float* value =
            &c.v[(t * s.kv_heads + kv - s.kv_heads) * s.head_dim];
        ASSERT_EQ(std::memcmp(value, x, s.head_dim * sizeof(float)), 0);
      } else {
        const auto right = exact_head(
            x, kv < 0 ? job.query_norm : job.key_norm, s, c.positions[t]);
        double largest = 0.0;
        for (const double value : right) {
          largest = std::max(largest, std::abs(value));
        }
        for (int64_t i = 0; i < s.head_dim; ++i) {
          ASSERT_NEAR(y[i], right[i], 1e-6 * largest)
              << "token " << t << " head " << h << " element " << i;
        }
      }
      x += s.head_dim;
    }
  }
}

TEST(SplitHeads, IsRightToAMillionthUpToAMillionPositions) {
  for (const float base : {10000.0f, 1000000.0f}) {
    Case c(
        {.tokens = 40,
         .query_heads = 4,
         .head_dim = 256,
         .rope = {.dims = 256, .base = base}});
    c.positions[0] = 0;
    c.positions[1] = 1;
    c.positions[2] = 1000000;
    expect_exact(c);
  }
}

TEST(SplitHeads, ScalesPositionsAndLeavesTheRestOfAHeadUnturned) {
  Case c(
      {.tokens = 5,
       .query_heads = 3,
       .kv_heads = 2,
       .head_dim = 96,
       .rope = {.dims = 40, .base = 500.0f, .scale = 0.125f}});
  expect_exact(c);
}

Rope scaled_rope() {
  auto divisors = std::make_shared<std::vector<double>>();
  for (int i = 0; i < 20; ++i) {
    divisors->push_back(1.0 + 0.37 * i);
  }
  return {.dims = 40, .base = 500.0f, .divisors = divisors, .magnitude = 1.3f};
}

TEST(SplitHeads, SlowsEachPairByItsDivisorAndScalesWhatTurns) {
  Case c(
      {.tokens = 5,
       .query_heads = 3,
       .kv_heads = 2,
       .head_dim = 96,
       .rope = scaled_rope()});
  expect_exact(c);
}

TEST(SplitHeads, TellsRopesApartByTheirDivisors) {
  Rope other = scaled_rope();
  other.divisors = std::make_shared<const std::vector<double>>(20, 2.0);
  Case a({.head_dim = 40, .rope = scaled_rope(), .norms = false});
  Case b({.head_dim = 40, .rope = other, .norms = false});
  expect_exact(a);
  expect_exact(b);
}

TEST(SplitHeads, TakesAnyEvenWidthWithAndWithoutNorms) {
  for (const bool norms : {false, true}) {
    for (int64_t dim = 1; dim <= 70; ++dim) {
      for (const int64_t dims : {int64_t{0}, dim / 4 * 2, dim / 2 * 2}) {
        Case c(
            {.tokens = 2,
             .head_dim = dim,
             .rope = {.dims = dims},
             .norms = norms});
        ASSERT_NO_FATAL_FAILURE(expect_exact(c)) << dim << " " << dims;
      }
    }
  }
}

TEST(SplitHeads, TurnsTheLeadingPairsAlone) {
  Case all({.head_dim = 64, .rope = {.dims = 64}, .norms = false});
  all.run(best_kernel_path());
  Case some(
      {.head_dim = 64, .rope = {.dims = 64, .turned = 5}, .norms = false});
  some.run(best_kernel_path());
  for (int64_t i = 0; i < 64; ++i) {
    const bool turned = i % 32 < 5;
    EXPECT_EQ(some.q[i], turned ? all.q[i] : some.qkv[i]) << i;
  }
}

TEST(SplitHeads, NormalisesValuesLikeKeysThatDoNotTurn) {
  Case c({.tokens = 3, .kv_heads = 2, .head_dim = 48, .rope = {.dims = 0}});
  const int64_t width = (2 + 2 * 2) * 48;
  for (int64_t t = 0; t < 3; ++t) { // values as keys
    std::copy_n(&c.qkv[t * width + 2 * 48], 2 * 48, &c.qkv[t * width + 4 * 48]);
  }
  SplitHeadsJob job = c.job();
  job.value_norm = job.key_norm;
  job.rope = {.dims = 0};
  Executor executor(1);
  split_heads(job, executor, best_kernel_path());
  EXPECT_EQ(c.v, c.k);
  EXPECT_NE(c.v[0], c.qkv[4 * 48]);
}

TEST(SplitHeads, GivesQueriesAloneWhereThereAreNoKeys) {
  Case with({.tokens = 5, .query_heads = 3, .kv_heads = 1});
  with.run(best_kernel_path());
  Case without({.tokens = 5, .query_heads = 3, .kv_heads = 0});
  for (int64_t t = 0; t < 5; ++t) {
    std::copy_n(&with.qkv[t * 5 * 64], 3 * 64, &without.qkv[t * 3 * 64]);
  }
  without.query_weight = with.query_weight;
  without.positions = with.positions;
  without.run(best_kernel_path());
  EXPECT_EQ(without.q, with.q);
}

TEST(SplitHeads, ATokensBitsDependOnItAlone) {
  Case all(
      {.tokens = 100,
       .query_heads = 4,
       .kv_heads = 2,
       .head_dim = 80,
       .rope = {.dims = 80}});
  all.run(best_kernel_path(), 1);
  const auto q = all.q, k = all.k, v = all.v;
  for (const int threads : {2, 3}) {
    all.run(best_kernel_path(), threads);
    EXPECT_EQ(all.q, q);
    EXPECT_EQ(all.k, k);
    EXPECT_EQ(all.v, v);
  }
  Executor executor(2);
  for (const int64_t count : {1, 7, 33}) {
    SplitHeadsJob job = all.job();
    for (int64_t t = 0; t < 100; t += count) {
      SplitHeadsJob part = job;
      part.tokens = std::min(count, 100 - t);
      part.qkv += t * 8 * 80;
      part.positions += t;
      part.q += t * 4 * 80;
      part.k += t * 2 * 80;
      part.v += t * 2 * 80;
      split_heads(part, executor, best_kernel_path());
    }
    EXPECT_EQ(all.q, q) << count;
    EXPECT_EQ(all.k, k) << count;
    EXPECT_EQ(all.v, v) << count;
  }
}

TEST(SplitHeads, AllPathsGiveTheSameBits) {
  for (const int64_t dim : {64, 80, 96, 128, 192, 256, 50}) {
    for (const bool norms : {false, true}) {
      Case c(
          {.tokens = 20,
           .head_dim = dim,
           .rope = {.dims = dim},
           .norms = norms},
          static_cast<uint32_t>(dim));
      c.run(KernelPath::kPlain);
      const auto q = c.q, k = c.k;
      for (const KernelPath path : holdfast::test::paths_here()) {
        c.run(path);
        EXPECT_EQ(c.q, q) << dim << name(path);
        EXPECT_EQ(c.k, k) << dim << name(path);
      }
    }
  }
}

TEST(SplitHeads, KeepsManyRopesApart) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40; ++i) {
      Case c(
          {.head_dim = 32,
           .rope = {.dims = 32, .base = 100.0f + static_cast<float>(i)}});
      ASSERT_NO_FATAL_FAILURE(expect_exact(c)) << i;
    }
  }
}

TEST(SplitHeads, RefusesShapesThatDoNotFit) {
  const Shape good{.head_dim = 32, .rope = {.dims = 32}};
  const auto refused = [&](auto change) {
    Case c(good);
    SplitHeadsJob job = c.job();
    change(job);
    Executor executor(1);
    try {
      split_heads(job, executor, KernelPath::kPlain);
    } catch (const Error& error) {
      return error.code() == ErrorCode::kInvalidArgument &&
          std::all_of(
                 c.q.begin(), c.q.end(), [](float x) { return std::isnan(x); });
    }
    return false;
  };
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.dims = 31; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.dims = 34; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.dims = -2; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.base = 0.0f; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.scale = NAN; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.head_dim = 0; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.query_heads = 0; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.kv_heads = -1; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.turned = 17; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.rope.turned = -1; }));
  EXPECT_TRUE(refused([](SplitHeadsJob& j) { j.tokens = -1; }));
}

} // namespace
} // namespace holdfast::cpu
