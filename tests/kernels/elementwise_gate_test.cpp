// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/kernels/cpu/elementwise.h"
#include "tests/code_of.h"
#include "tests/kernel_paths.h"
#include "tests/random_values.h"

namespace holdfast::cpu {
namespace {

constexpr int64_t kTokens = 40;
constexpr int64_t kQueryHeads = 3;
constexpr int64_t kKvHeads = 1;
constexpr int64_t kDim = 40;
constexpr int64_t kWidth = (2 * kQueryHeads + 2 * kKvHeads) * kDim;

using holdfast::test::random_values;

struct Heads {
  std::vector<float> q, k, v;
};

Heads split(const std::vector<float>& qkv, int64_t tokens, bool gated) {
  std::vector<int32_t> positions(tokens);
  for (int64_t t = 0; t < tokens; ++t) {
    positions[t] = static_cast<int32_t>(t * 7);
  }
  Heads heads;
  heads.q.resize(tokens * kQueryHeads * kDim);
  heads.k.resize(tokens * kKvHeads * kDim);
  heads.v.resize(tokens * kKvHeads * kDim);
  SplitHeadsJob job;
  job.qkv = qkv.data();
  job.tokens = tokens;
  job.query_heads = kQueryHeads;
  job.kv_heads = kKvHeads;
  job.head_dim = kDim;
  job.rope = {.dims = 16};
  job.positions = positions.data();
  job.q = heads.q.data();
  job.k = heads.k.data();
  job.v = heads.v.data();
  job.gated = gated;
  Executor executor(2);
  split_heads(job, executor, best_kernel_path());
  return heads;
}

std::vector<float> gate(
    const std::vector<float>& x,
    const std::vector<float>& qkv,
    KernelPath path) {
  std::vector<float> y(x.size());
  Executor executor(2);
  gate_heads(
      {.x = x.data(),
       .qkv = qkv.data(),
       .tokens = static_cast<int64_t>(qkv.size()) / kWidth,
       .query_heads = kQueryHeads,
       .head_dim = kDim,
       .width = kWidth,
       .y = y.data()},
      executor,
      path);
  return y;
}

TEST(GatedHeads, SplitAsIfTheGatesWereNotThere) {
  const auto qkv = random_values(kTokens * kWidth, 1);
  std::vector<float> without;
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t h = 0; h < 2 * kQueryHeads + 2 * kKvHeads; ++h) {
      if (h >= 2 * kQueryHeads || h % 2 == 0) {
        const auto head = qkv.begin() + t * kWidth + h * kDim;
        without.insert(without.end(), head, head + kDim);
      }
    }
  }
  const Heads got = split(qkv, kTokens, true);
  const Heads want = split(without, kTokens, false);
  EXPECT_EQ(got.q, want.q);
  EXPECT_EQ(got.k, want.k);
  EXPECT_EQ(got.v, want.v);
}

TEST(GatedHeads, AreMultipliedByTheSigmoidOfTheirGates) {
  const auto qkv = random_values(kTokens * kWidth, 2);
  const auto x = random_values(kTokens * kQueryHeads * kDim, 3);
  const auto y = gate(x, qkv, best_kernel_path());
  for (int64_t i = 0; i < std::ssize(y); ++i) {
    const int64_t t = i / (kQueryHeads * kDim);
    const int64_t h = i / kDim % kQueryHeads;
    const double g = qkv[t * kWidth + (2 * h + 1) * kDim + i % kDim];
    const double want = x[i] / (1.0 + std::exp(-g));
    ASSERT_NEAR(y[i], want, 1e-6 * (1.0 + std::abs(want))) << i;
  }
}

TEST(GatedHeads, GiveTheSameBitsOnEachPathAndAlone) {
  const auto qkv = random_values(kTokens * kWidth, 4);
  const auto x = random_values(kTokens * kQueryHeads * kDim, 5);
  const auto want = gate(x, qkv, KernelPath::kPlain);
  for (const KernelPath path : holdfast::test::paths_here()) {
    EXPECT_EQ(gate(x, qkv, path), want) << name(path);
  }
  const int64_t row = kQueryHeads * kDim;
  const std::vector<float> one_x(x.begin() + 7 * row, x.begin() + 8 * row);
  const std::vector<float> one_qkv(
      qkv.begin() + 7 * kWidth, qkv.begin() + 8 * kWidth);
  EXPECT_EQ(
      gate(one_x, one_qkv, best_kernel_path()),
      std::vector<float>(want.begin() + 7 * row, want.begin() + 8 * row));
}

TEST(GatedHeads, AreRefusedWhereTheProjectionHasNoGates) {
  Executor executor(1);
  EXPECT_EQ(
      code_of([&] {
        gate_heads(
            {.tokens = 1, .query_heads = 4, .head_dim = 16, .width = 96},
            executor,
            KernelPath::kPlain);
      }),
      ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast::cpu
