// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "holdfast/kernels/cpu/expert_choice.h"
#include "holdfast/kernels/cpu/experts.h"
#include "tests/kernels/linear_runs.h"

namespace holdfast::cpu {
namespace {

using test::expect_same_bits;
using test::Floats;
using test::Kind;
using test::Source;

constexpr int64_t kHidden = 96, kFfn = 70, kExperts = 6;

struct Mix {
  std::vector<Source> gates, ups, downs;
  std::vector<Expert> experts;
  Floats norm = test::random_values(kHidden, 1);
  int64_t top = 3;
  Routing routing = Routing::kSoftmax;
  Gate gate = Gate::kSilu;

  explicit Mix(const WeightFormat& in, const WeightFormat& out, bool biases) {
    Executor executor(2);
    for (uint64_t e = 0; e < kExperts; ++e) {
      gates.push_back(Source::random(in, kFfn, kHidden, 10 * e + 2));
      ups.push_back(Source::random(in, kFfn, kHidden, 10 * e + 3));
      downs.push_back(Source::random(out, kHidden, kFfn, 10 * e + 4));
      Expert expert{
          .gate = gates[e].pack(executor),
          .up = ups[e].pack(executor),
          .down = downs[e].pack(executor)};
      if (biases) {
        expert.gate_up_bias = test::random_values(2 * kFfn, 10 * e + 5);
        expert.down_bias = test::random_values(kHidden, 10 * e + 6);
      }
      experts.push_back(std::move(expert));
    }
  }

  ExpertsJob job(const Floats& x, const Floats& scores) const {
    return {
        .x = x.data(),
        .scores = scores.data(),
        .m = std::ssize(x) / kHidden,
        .norm = {.weight = norm.data(), .eps = 1e-5f},
        .experts = experts,
        .gate = gate,
        .top = top,
        .routing = routing};
  }

  Floats run(ExpertsJob job, Executor& executor, KernelPath path) const {
    Floats y(static_cast<size_t>(job.m * kHidden), NAN);
    job.y = y.data();
    mix_experts(job, executor, path);
    return y;
  }
};

const WeightFormat kF32{.kind = Kind::kF32};
const WeightFormat kCodes{
    .kind = Kind::kCodes,
    .bits = 5,
    .group = 32,
    .offsets = false};

std::vector<std::pair<int64_t, double>>
shares(const float* scores, int64_t top, Routing routing) {
  std::vector<int64_t> order(kExperts);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  double all = 0.0;
  double chosen = 0.0;
  for (int64_t i = 0; i < kExperts; ++i) {
    const double e = std::exp(double{scores[order[i]]});
    all += e;
    chosen += i < top ? e : 0.0;
  }
  std::vector<std::pair<int64_t, double>> result;
  for (int64_t i = 0; i < top; ++i) {
    result.push_back(
        {order[i],
         std::exp(double{scores[order[i]]}) /
             (routing == Routing::kSoftmax ? all : chosen)});
  }
  return result;
}

/// One row in f64.
std::vector<double> exact(const Mix& mix, const float* x, const float* scores) {
  double squares = 0.0;
  for (int64_t i = 0; i < kHidden; ++i) {
    squares += double{x[i]} * x[i];
  }
  const double scale = 1.0 / std::sqrt(squares / kHidden + 1e-5);
  std::vector<double> y(x, x + kHidden);
  for (const auto& [e, weight] : shares(scores, mix.top, mix.routing)) {
    const Expert& expert = mix.experts[e];
    std::vector<double> hidden(kFfn);
    for (int64_t i = 0; i < kFfn; ++i) {
      const bool biased = !expert.gate_up_bias.empty();
      double g = biased ? expert.gate_up_bias[i] : 0.0;
      double u = biased ? expert.gate_up_bias[kFfn + i] : 0.0;
      for (int64_t j = 0; j < kHidden; ++j) {
        const double a = x[j] * scale * mix.norm[j];
        g += a * mix.gates[e].value(i, j);
        u += a * mix.ups[e].value(i, j);
      }
      if (mix.gate == Gate::kSilu) {
        hidden[i] = g / (1.0 + std::exp(-g)) * u;
      } else {
        g = std::min(g, 7.0);
        hidden[i] =
            g / (1.0 + std::exp(-1.702 * g)) * (std::clamp(u, -7.0, 7.0) + 1.0);
      }
    }
    for (int64_t i = 0; i < kHidden; ++i) {
      double out = expert.down_bias.empty() ? 0.0 : expert.down_bias[i];
      for (int64_t j = 0; j < kFfn; ++j) {
        out += hidden[j] * mix.downs[e].value(i, j);
      }
      y[i] += weight * out;
    }
  }
  return y;
}

TEST(Experts, AddWhatTheChosenExpertsMakeOfARow) {
  Executor executor(2);
  for (const Routing routing :
       {Routing::kSoftmax, Routing::kSoftmaxShare, Routing::kSoftmaxOfTop}) {
    for (const bool biases : {false, true}) {
      Mix mix(kF32, kF32, biases);
      mix.routing = routing;
      mix.gate = biases ? Gate::kClampedSwiglu : Gate::kSilu;
      const Floats x = test::random_values(23 * kHidden, 7);
      const Floats scores = test::random_values(23 * kExperts, 8);
      const Floats got =
          mix.run(mix.job(x, scores), executor, best_kernel_path());
      for (int64_t row = 0; row < 23; ++row) {
        const auto right =
            exact(mix, &x[row * kHidden], &scores[row * kExperts]);
        for (int64_t i = 0; i < kHidden; ++i) {
          ASSERT_NEAR(got[row * kHidden + i], right[i], 2e-5)
              << "row " << row << " element " << i;
        }
      }
    }
  }
}

// Rows of one call share experts in every way; alone they share none.
TEST(Experts, KeepARowsBitsWhoeverSharesItsExperts) {
  const WeightFormat bf16{.kind = Kind::kBf16};
  for (const WeightFormat& format : {kF32, bf16, kCodes}) {
    Mix mix(format, format.kind == Kind::kCodes ? bf16 : format, true);
    mix.routing = Routing::kSoftmaxShare;
    const int64_t m = 61;
    const Floats x = test::random_values(m * kHidden, 9);
    const Floats scores = test::random_values(m * kExperts, 10);
    Executor one(1), two(2), three(3);
    const ExpertsJob all = mix.job(x, scores);
    const Floats want = mix.run(all, two, best_kernel_path());
    for (const KernelPath path : test::paths()) {
      expect_same_bits(mix.run(all, one, path), want, name(path));
    }
    expect_same_bits(
        mix.run(all, three, best_kernel_path()), want, "3 threads");
    Floats parts;
    for (int64_t row = 0, step = 1; row < m; row += step, step = step % 9 + 2) {
      ExpertsJob part = all;
      part.m = std::min(step, m - row);
      part.x += row * kHidden;
      part.scores += row * kExperts;
      const Floats y = mix.run(part, two, best_kernel_path());
      parts.insert(parts.end(), y.begin(), y.end());
    }
    expect_same_bits(parts, want, "split rows");
  }
}

TEST(Experts, KeepARowsBitsInALongJob) {
  Mix mix(kCodes, kF32, false);
  Executor executor(2);
  const int64_t m = 530; // more than are gathered at once
  const Floats x = test::random_values(m * kHidden, 11);
  const Floats scores = test::random_values(m * kExperts, 12);
  const ExpertsJob all = mix.job(x, scores);
  const Floats want = mix.run(all, executor, best_kernel_path());
  ExpertsJob last = all;
  last.m = 20;
  last.x += (m - 20) * kHidden;
  last.scores += (m - 20) * kExperts;
  expect_same_bits(
      mix.run(last, executor, best_kernel_path()),
      {want.end() - 20 * kHidden, want.end()},
      "the last rows");
}

TEST(Experts, AreChosenByTheirScoresAndOfEqualOnesTheFirst) {
  const Floats scores{1.0f, 3.0f, 2.0f, 3.0f, 2.0f, -1.0f};
  for (const KernelPath path : test::paths()) {
    const auto two = choose_experts(scores, 2, Routing::kSoftmaxShare, path);
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(two[0].expert, 1);
    EXPECT_EQ(two[1].expert, 3);
    EXPECT_EQ(two[0].weight, 0.5f);
    const auto three = choose_experts(scores, 3, Routing::kSoftmaxOfTop, path);
    ASSERT_EQ(three.size(), 3u);
    EXPECT_EQ(three[1].expert, 2);
  }
}

TEST(Experts, LetNoScoreThatIsNotANumberPass) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats scores{1.0f, 3.0f, nan, 3.0f, 2.0f, -1.0f};
  for (const Routing routing :
       {Routing::kSoftmax, Routing::kSoftmaxShare, Routing::kSoftmaxOfTop}) {
    const auto chosen = choose_experts(scores, 2, routing, best_kernel_path());
    ASSERT_EQ(chosen.size(), 2u);
    EXPECT_TRUE(std::isnan(chosen[0].weight));
    EXPECT_TRUE(std::isnan(chosen[1].weight));
  }
}

TEST(Experts, RefuseJobsThatDoNotFitBeforeAnythingIsWritten) {
  Mix mix(kF32, kF32, true);
  Executor executor(1);
  const Floats x(kHidden), scores(kExperts);
  Floats y(kHidden, 5.0f);
  const auto refused = [&](auto change) {
    ExpertsJob job = mix.job(x, scores);
    job.y = y.data();
    change(job);
    try {
      mix_experts(job, executor, KernelPath::kPlain);
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::kInvalidArgument &&
          std::ranges::all_of(y, [](float value) { return value == 5.0f; });
    }
  };
  EXPECT_TRUE(refused([](ExpertsJob& job) { job.top = 0; }));
  EXPECT_TRUE(refused([](ExpertsJob& job) { job.top = kExperts + 1; }));
  EXPECT_TRUE(refused([](ExpertsJob& job) { job.gate = Gate::kNone; }));
  EXPECT_TRUE(refused([](ExpertsJob& job) { job.experts = {}; }));
  EXPECT_TRUE(refused([](ExpertsJob& job) { job.scores = nullptr; }));
  EXPECT_TRUE(refused([](ExpertsJob& job) { job.m = -1; }));
  mix.experts[2].down_bias.pop_back();
  EXPECT_TRUE(refused([](ExpertsJob&) {}));
  mix.experts[2].down_bias.clear();
  std::swap(mix.experts[1].gate, mix.experts[1].down);
  EXPECT_TRUE(refused([](ExpertsJob&) {}));
}

} // namespace
} // namespace holdfast::cpu
