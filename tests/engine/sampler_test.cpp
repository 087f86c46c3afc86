// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/base/status.h"
#include "holdfast/engine/sampler.h"

namespace holdfast {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_logits(int64_t vocab, unsigned seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> logits(static_cast<size_t>(vocab));
  for (float& x : logits) {
    x = normal(random);
  }
  return logits;
}

Sampler sampler(const SamplingOptions& options, int64_t vocab) {
  return Sampler(options, vocab, best_kernel_path());
}

/// Ids from the most to the least likely.
std::vector<int32_t> ranked(const std::vector<float>& logits) {
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return logits[a] > logits[b];
  });
  return ids;
}

std::vector<double> softmax(const std::vector<float>& logits, double scale) {
  const double max = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p;
  double total = 0;
  for (const float x : logits) {
    p.push_back(std::exp(scale * (x - max)));
    total += p.back();
  }
  for (double& x : p) {
    x /= total;
  }
  return p;
}

std::map<int32_t, int> draws(
    const SamplingOptions& options,
    const std::vector<float>& logits,
    int count) {
  Sampler s = sampler(options, static_cast<int64_t>(logits.size()));
  std::map<int32_t, int> counts;
  for (int i = 0; i < count; ++i) {
    ++counts[s.sample(logits, i)];
  }
  return counts;
}

/// Each token's count within five deviations of its probability among `kept`.
void expect_follows(
    const std::map<int32_t, int>& counts,
    const std::vector<double>& probabilities,
    const std::set<int32_t>& kept,
    int count) {
  double total = 0;
  for (const int32_t id : kept) {
    total += probabilities[id];
  }
  for (const auto& [id, seen] : counts) {
    EXPECT_TRUE(kept.contains(id)) << id << " drawn " << seen << " times";
  }
  for (const int32_t id : kept) {
    const double p = probabilities[id] / total;
    const auto found = counts.find(id);
    EXPECT_NEAR(
        found == counts.end() ? 0 : found->second,
        count * p,
        5 * std::sqrt(count * p * (1 - p)) + 1)
        << id;
  }
}

TEST(Sampler, TakesTheFirstOfEqualLogitsWhenTheTemperatureIsZero) {
  std::vector<float> logits(1000, 0.5f);
  logits[700] = logits[300] = logits[999] = 2.0f;
  EXPECT_EQ(sampler({.temperature = 0}, 1000).sample(logits, 9), 300);
}

TEST(Sampler, DrawsByTheSoftmaxOfTheWholeVocabulary) {
  const auto logits = random_logits(700, 1, 2.0f);
  std::set<int32_t> all;
  for (int32_t i = 0; i < 700; ++i) {
    all.insert(i);
  }
  expect_follows(
      draws({.temperature = 0.5, .seed = 3}, logits, 20000),
      softmax(logits, 2.0),
      all,
      20000);
}

TEST(Sampler, TopKKeepsTheKMostLikely) {
  const auto logits = random_logits(3000, 2, 1.0f);
  const auto order = ranked(logits);
  for (const int64_t k : {1, 2, 7, 40}) {
    expect_follows(
        draws({.temperature = 1, .top_k = k, .seed = 4}, logits, 1000),
        softmax(logits, 1.0),
        std::set<int32_t>(order.begin(), order.begin() + k),
        1000);
  }
}

TEST(Sampler, TopPKeepsTheFewestThatHoldTheProbability) {
  for (const float spread : {0.3f, 2.0f, 6.0f}) {
    const auto logits = random_logits(2000, 3, spread);
    const auto order = ranked(logits);
    const auto p = softmax(logits, 1.0);
    for (const double top_p : {0.1, 0.5, 0.9}) {
      std::set<int32_t> kept;
      double held = 0;
      for (size_t i = 0; i < order.size() && held < top_p; ++i) {
        kept.insert(order[i]);
        held += p[order[i]];
      }
      expect_follows(
          draws({.temperature = 1, .top_p = top_p, .seed = 5}, logits, 1000),
          p,
          kept,
          1000);
    }
  }
}

TEST(Sampler, JudgesTopPAndMinPBeforeTheTemperature) {
  // Probabilities 0.6, 0.3, 0.1: a temperature of 10 makes them nearly equal.
  const std::vector<float> logits = {
      std::log(0.6f), std::log(0.3f), std::log(0.1f)};
  const auto p = draws({.temperature = 10, .top_p = 0.7}, logits, 500);
  EXPECT_EQ(p.size(), 2u);
  EXPECT_GT(p.at(1), 150);
  const auto m = draws({.temperature = 10, .min_p = 0.4}, logits, 500);
  EXPECT_EQ(m.size(), 2u);
  EXPECT_GT(m.at(1), 150);
}

TEST(Sampler, AppliesTopPToWhatTopKLeft) {
  // Of the two kept, the first alone holds 2/3.
  const std::vector<float> logits = {
      std::log(0.4f), std::log(0.2f), std::log(0.2f), std::log(0.2f)};
  const auto counts =
      draws({.temperature = 1, .top_k = 2, .top_p = 0.6}, logits, 200);
  EXPECT_THAT(counts, testing::ElementsAre(testing::Key(0)));
}

TEST(Sampler, GivesTheSameChoicesOnEveryPath) {
  const auto logits = random_logits(5000, 8, 3.0f);
  const SamplingOptions options[] = {
      {.temperature = 0.8, .seed = 1},
      {.temperature = 1.5, .top_k = 50, .seed = 2},
      {.temperature = 0.7, .top_k = 100, .top_p = 0.9, .min_p = 0.05},
      {.temperature = 2.0, .top_p = 0.95},
      {.temperature = 1.0, .min_p = 0.1, .repeat_penalty = 1.3},
  };
  for (const SamplingOptions& option : options) {
    Sampler best(option, 5000, best_kernel_path());
    Sampler plain(option, 5000, KernelPath::kPlain);
    for (int i = 0; i < 50; ++i) {
      const int32_t token = best.sample(logits, i);
      EXPECT_EQ(plain.sample(logits, i), token);
      best.observe(token);
      plain.observe(token);
    }
  }
}

TEST(Sampler, ChoosesByThePositionAloneSoThatAnotherOneCanGoOn) {
  const auto logits = random_logits(500, 9, 1.0f);
  Sampler whole = sampler({.temperature = 1, .seed = 6}, 500);
  std::vector<int32_t> choices;
  for (int i = 0; i < 20; ++i) {
    choices.push_back(whole.sample(logits, i));
  }
  Sampler resumed = sampler({.temperature = 1, .seed = 6}, 500);
  for (int i = 10; i < 20; ++i) {
    EXPECT_EQ(resumed.sample(logits, i), choices[i]);
  }
  EXPECT_GT(std::set<int32_t>(choices.begin(), choices.end()).size(), 10u);
}

TEST(Sampler, DividesOrMultipliesTheLogitsOfTokensSeen) {
  Sampler s = sampler({.temperature = 0, .repeat_penalty = 2}, 3);
  EXPECT_EQ(s.sample(std::vector{4.0f, 3.0f, -1.0f}, 0), 0);
  s.observe(0);
  EXPECT_EQ(s.sample(std::vector{4.0f, 3.0f, -1.0f}, 1), 1);
  s.observe(1);
  EXPECT_EQ(s.sample(std::vector{-1.0f, -1.5f, -1.9f}, 2), 2);
}

TEST(Sampler, SubtractsPresenceOnceAndFrequencyEachTime) {
  Sampler s = sampler(
      {.temperature = 0, .presence_penalty = 1, .frequency_penalty = 0.5}, 2);
  s.observe(0); // 1.5
  EXPECT_EQ(s.sample(std::vector{2.0f, 0.6f}, 0), 1);
  EXPECT_EQ(s.sample(std::vector{2.0f, 0.4f}, 0), 0);
  s.observe(0); // 2
  EXPECT_EQ(s.sample(std::vector{2.0f, 0.1f}, 0), 1);
}

TEST(Sampler, LogProbabilitiesAreThoseOfTheRawLogits) {
  const auto logits = random_logits(4000, 12, 3.0f);
  const auto p = softmax(logits, 1.0);
  const auto order = ranked(logits);
  Sampler s = sampler({.temperature = 3, .repeat_penalty = 5}, 4000);
  s.observe(order[0]);
  const TokenLogprobs got = s.logprobs(logits, 17, 5);
  EXPECT_EQ(got.chosen.id, 17);
  EXPECT_NEAR(got.chosen.logprob, std::log(p[17]), 1e-5);
  ASSERT_EQ(got.top.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(got.top[i].id, order[i]);
    EXPECT_NEAR(got.top[i].logprob, std::log(p[order[i]]), 1e-5);
  }
  EXPECT_EQ(s.logprobs(logits, 0, 9999).top.size(), 4000u);
}

TEST(Sampler, NeverDrawsWhatIsNoNumberAndRefusesWhereNothingIs) {
  std::vector<float> logits(600, kNan);
  EXPECT_THROW(sampler({}, 600).sample(logits, 0), Error);
  logits[400] = -3.0f;
  logits[500] = -4.0f;
  EXPECT_EQ(sampler({.temperature = 0}, 600).sample(logits, 0), 400);
  for (const auto& [id, count] : draws({.temperature = 5}, logits, 300)) {
    EXPECT_TRUE(id == 400 || id == 500) << id;
  }
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  const SamplingOptions wrong[] = {
      {.temperature = -0.1},
      {.temperature = kNan},
      {.temperature = std::numeric_limits<double>::infinity()},
      {.top_k = -1},
      {.top_p = 0.0},
      {.top_p = 1.5},
      {.min_p = -0.5},
      {.min_p = 2.0},
      {.repeat_penalty = 0.0},
      {.repeat_penalty = 1e-40}, // its quotients are no numbers
      {.presence_penalty = kNan},
      {.frequency_penalty = 1e9},
  };
  for (const SamplingOptions& options : wrong) {
    EXPECT_THROW(sampler(options, 10), Error);
  }
}

TEST(UniformAt, IsEvenAndDependsOnSeedAndIndexAlone) {
  EXPECT_EQ(uniform_at(5, 77), uniform_at(5, 77));
  double sum = 0;
  int changed = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    const double u = uniform_at(1, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    changed += u != uniform_at(2, i);
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);
  EXPECT_EQ(changed, 20000);
}

} // namespace
} // namespace holdfast
