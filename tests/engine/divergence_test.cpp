// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/engine/divergence.h"
#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

using test::Session;

std::vector<float> random_logits(int64_t count, uint64_t seed, double spread) {
  std::vector<float> logits;
  for (int64_t i = 0; i < count; ++i) {
    logits.push_back(static_cast<float>(spread * (uniform_at(seed, i) - 0.5)));
  }
  return logits;
}

std::vector<double> log_softmax(const std::vector<float>& logits) {
  double total = 0;
  for (const float x : logits) {
    total += std::exp(static_cast<double>(x));
  }
  std::vector<double> result;
  for (const float x : logits) {
    result.push_back(x - std::log(total));
  }
  return result;
}

double naive_divergence(
    const std::vector<float>& reference,
    const std::vector<float>& other) {
  const auto p = log_softmax(reference);
  const auto q = log_softmax(other);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    sum += std::exp(p[i]) * (p[i] - q[i]);
  }
  return sum;
}

TEST(LogitPairs, AgreeWithTheDefinitionInF64) {
  for (const KernelPath path : {KernelPath::kPlain, best_kernel_path()}) {
    LogitPairs pairs(path);
    for (const int64_t size : {1, 7, 256, 5003}) {
      const auto reference = random_logits(size, 1, 20);
      for (const double spread : {1e-3, 0.1, 20.0}) {
        auto other = random_logits(size, 2, spread);
        for (int64_t i = 0; i < size; ++i) {
          other[i] += reference[i];
        }
        pairs.keep(3, reference);
        const auto got = pairs.compare(3, other);
        EXPECT_NEAR(
            got.divergence,
            naive_divergence(reference, other),
            1e-6 * (1 + spread));
        const auto top = std::max_element(other.begin(), other.end());
        EXPECT_EQ(got.shape.top, top - other.begin());
        EXPECT_NEAR(
            got.shape.log_total, other[0] - log_softmax(other)[0], 1e-5);
      }
    }
  }
}

TEST(LogitPairs, FindNoDivergenceBetweenEqualRowsNorOnesMovedByAConstant) {
  LogitPairs pairs(best_kernel_path());
  const auto reference = random_logits(1000, 1, 30);
  pairs.keep(0, reference);
  const auto same = pairs.compare(0, reference);
  EXPECT_EQ(same.divergence, 0);
  EXPECT_TRUE(same.same_top);
  auto moved = reference;
  for (float& x : moved) {
    x += 8;
  }
  EXPECT_NEAR(pairs.compare(0, moved).divergence, 0, 1e-6);
}

TEST(LogitPairs, TellWhenAnotherTokenIsMostLikely) {
  LogitPairs pairs(best_kernel_path());
  pairs.keep(0, std::vector<float>{1, 3, 2});
  EXPECT_TRUE(pairs.compare(0, std::vector<float>{1, 9, 2}).same_top);
  EXPECT_FALSE(pairs.compare(0, std::vector<float>{4, 3, 2}).same_top);
}

TEST(LogitPairs, RefuseWhatIsNotFinite) {
  LogitPairs pairs(best_kernel_path());
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THROW(pairs.keep(0, std::vector<float>{1, infinity}), Error);
  pairs.keep(0, std::vector<float>{1, 2});
  EXPECT_THROW(pairs.compare(0, std::vector<float>{1, infinity}), Error);
  EXPECT_THROW(pairs.compare(0, std::vector<float>{-infinity, 1}), Error);
  EXPECT_THROW(pairs.compare(1, std::vector<float>{1, 2}), Error);
  EXPECT_THROW(pairs.compare(0, std::vector<float>{1}), Error);
}

std::vector<int32_t> text_tokens(int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<int32_t>(4 + uniform_at(1, i) * 270));
  }
  return tokens;
}

/// The report of states with these precisions, beside bf16.
QualityReport report(
    const std::vector<std::string>& kv,
    const std::vector<int32_t>& tokens,
    int64_t chunk = 512) {
  std::vector<std::unique_ptr<State>> owned;
  std::vector<State*> states;
  for (const std::string& name : kv) {
    states.push_back(
        owned.emplace_back(make_state(test::tiny(), {.kv = name})).get());
  }
  Session reference;
  const auto result = compare_states(
      *reference.loaded.model,
      *reference.state,
      states,
      {.tokens = tokens,
       .first = first_token(reference.loaded.source.tokenizer),
       .window = 100,
       .chunk = chunk},
      {.path = reference.loaded.runtime.path});
  for (State* state : states) {
    EXPECT_EQ(state->bytes().get(), 0);
  }
  EXPECT_EQ(reference.state->bytes().get(), 0);
  return result;
}

TEST(CompareStates, FindsEqualStatesEqual) {
  const auto got = report({"bf16", "bf16/bf16"}, text_tokens(250));
  for (const StateQuality& state : got.states) {
    EXPECT_EQ(state.divergence.mean, 0);
    EXPECT_EQ(state.divergence.p999, 0);
    EXPECT_EQ(state.divergence.max, 0);
    EXPECT_EQ(state.divergence.same_top, 1);
    EXPECT_EQ(state.perplexity.nll, got.reference.nll);
    EXPECT_EQ(state.perplexity.tokens, 2 * 49);
  }
}

TEST(CompareStates, RanksCodecsByTheirBits) {
  const auto got =
      report({"q8", "q4", "q2", "t8", "t4", "t2"}, text_tokens(600));
  for (const size_t first : {0, 3}) {
    for (size_t i = first; i < first + 3; ++i) {
      const Divergence& d = got.states[i].divergence;
      EXPECT_GT(d.mean, i == first ? 0 : got.states[i - 1].divergence.mean);
      EXPECT_GE(d.p999, d.mean);
      EXPECT_GE(d.max, d.p999);
      EXPECT_GE(d.same_top, 0);
      EXPECT_LE(d.same_top, 1);
      EXPECT_NE(got.states[i].perplexity.nll, got.reference.nll);
    }
  }
}

TEST(CompareStates, GivesWhatAStateAloneGivesWhateverRunsBesideIt) {
  const auto tokens = text_tokens(230);
  const auto together = report({"q4", "t3@70", "q8/t2"}, tokens);
  const auto alone = report({"t3@70"}, tokens, 9);
  const StateQuality& a = together.states[1];
  const StateQuality& b = alone.states[0];
  EXPECT_EQ(a.perplexity.nll, b.perplexity.nll);
  EXPECT_EQ(a.divergence.mean, b.divergence.mean);
  EXPECT_EQ(a.divergence.max, b.divergence.max);
  Session session(test::tiny(), {.kv = "t3@70"});
  const double solo = perplexity(
                          *session.loaded.model,
                          *session.state,
                          session.loaded.source.tokenizer,
                          tokens,
                          {.window = 100, .path = session.loaded.runtime.path})
                          .nll;
  EXPECT_NEAR(a.perplexity.nll, solo, 1e-9);
}

TEST(CompareStates, AStartBehindTheWindowChangesNothing) {
  const auto got = report({"q2@100", "q2@99"}, text_tokens(200));
  EXPECT_EQ(got.states[0].divergence.max, 0);
  // A window's last token is never fed: 99 positions are committed in all.
  EXPECT_EQ(got.states[1].divergence.max, 0);
  EXPECT_GT(report({"q2@98"}, text_tokens(200)).states[0].divergence.max, 0);
}

} // namespace
} // namespace holdfast
