// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/sample.h"
#include "tests/kernel_paths.h"

namespace holdfast::cpu {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random_logits(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 6.0f);
  std::vector<float> logits(n);
  for (float& x : logits) {
    x = normal(random);
  }
  for (size_t i = 3; i < n; i += 97) {
    logits[i] = i % 2 == 0 ? kNan : -kInfinity;
  }
  return logits;
}

struct Passes {
  std::vector<float> maxima, sums, weights;
  std::vector<int32_t> indices;
  bool operator==(const Passes&) const = default;
};

Passes run(const std::vector<float>& logits, KernelPath path) {
  const auto n = static_cast<int64_t>(logits.size());
  const auto blocks = static_cast<size_t>(ceil_div(n, kSampleBlock));
  Passes p{
      std::vector<float>(blocks),
      std::vector<float>(blocks),
      std::vector<float>(logits.size()),
      std::vector<int32_t>(logits.size())};
  block_maxima(logits, p.maxima.data(), path);
  float max = -kInfinity;
  for (const float m : p.maxima) {
    max = std::max(max, m);
  }
  const ExpWeights weights{max, 1.0f / 0.7f};
  block_exp_sums(logits, weights, p.sums.data(), path);
  exp_weights(logits, weights, p.weights.data(), path);
  p.indices.resize(static_cast<size_t>(
      collect_at_least(logits, max - 6.0f, p.indices.data(), path)));
  return p;
}

TEST(SampleKernels, GiveTheSameBitsOnEveryPath) {
  for (const size_t n : {1, 15, 16, 17, 255, 256, 257, 1000, 5000}) {
    const auto logits = random_logits(n, static_cast<unsigned>(n));
    const Passes plain = run(logits, KernelPath::kPlain);
    for (const KernelPath path : holdfast::test::paths_here()) {
      EXPECT_TRUE(run(logits, path) == plain) << n << " " << name(path);
    }
  }
}

TEST(SampleKernels, AgreeWithTheirDefinition) {
  const auto logits = random_logits(1000, 5);
  const Passes p = run(logits, KernelPath::kPlain);
  float max = -kInfinity;
  std::vector<int32_t> indices;
  for (const float x : logits) {
    max = x > max ? x : max;
  }
  for (size_t i = 0; i < logits.size(); ++i) {
    const double weight =
        std::isnan(logits[i]) ? 0.0 : std::exp((logits[i] - max) / 0.7);
    EXPECT_NEAR(p.weights[i], weight, 1e-5 * weight + 1e-37);
    if (logits[i] >= max - 6.0f) {
      indices.push_back(static_cast<int32_t>(i));
    }
  }
  EXPECT_THAT(p.indices, testing::ElementsAreArray(indices));
  for (size_t b = 0; b < p.sums.size(); ++b) {
    double sum = 0;
    for (size_t i = b * kSampleBlock;
         i < std::min<size_t>((b + 1) * kSampleBlock, logits.size());
         ++i) {
      sum += p.weights[i];
    }
    EXPECT_NEAR(p.sums[b], sum, 1e-5 * sum);
  }
}

TEST(SampleKernels, HaveNoMaximumWhereNothingIsANumber) {
  const std::vector<float> logits(300, kNan);
  const Passes p = run(logits, best_kernel_path());
  EXPECT_THAT(p.maxima, testing::Each(-kInfinity));
  EXPECT_THAT(p.indices, testing::IsEmpty());
}

} // namespace
} // namespace holdfast::cpu
