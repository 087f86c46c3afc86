// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "holdfast/engine/forward.h"
#include "holdfast/engine/perplexity.h"
#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

using test::Session;

std::vector<int32_t> text_tokens(int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(
        static_cast<int32_t>(4 + uniform_at(1, i) * 270)); // bytes and words
  }
  return tokens;
}

/// The definition: whole windows at once, softmax in f64.
double naive_nll(std::span<const int32_t> tokens, int64_t size) {
  Session session;
  const Model& model = *session.loaded.model;
  double sum = 0;
  int64_t count = 0;
  for (int64_t at = 0; at + size <= std::ssize(tokens); at += size) {
    std::vector<int32_t> window(
        tokens.begin() + at, tokens.begin() + at + size);
    window[0] = session.loaded.source.tokenizer.bos();
    const RowTokens part{session.state->add_row(), window, size};
    const Logits logits = run_step(model, *session.state, std::span(&part, 1));
    for (int64_t i = size / 2; i + 1 < size; ++i) {
      const auto row = logits.row(i);
      double total = 0;
      for (const float x : row) {
        total += std::exp(static_cast<double>(x));
      }
      sum -= row[static_cast<size_t>(window[i + 1])] - std::log(total);
      ++count;
    }
    session.state->remove_row(part.row);
  }
  return sum / static_cast<double>(count);
}

TEST(Perplexity, IsTheSameForEveryChunkWhereThePrecisionChanges) {
  const auto tokens = text_tokens(200);
  std::vector<double> got;
  for (const int64_t chunk : {1, 9, 200}) {
    Session session(test::tiny(), {.kv = "t4@70"});
    got.push_back(perplexity(
                      *session.loaded.model,
                      *session.state,
                      session.loaded.source.tokenizer,
                      tokens,
                      {.window = 100, .chunk = chunk})
                      .nll);
  }
  EXPECT_EQ(got[0], got[1]);
  EXPECT_EQ(got[0], got[2]);
}

TEST(Perplexity, ScoresTheSecondHalfOfEachWindow) {
  const auto tokens = text_tokens(200);
  for (const int64_t size : {4, 7, 64, 200}) {
    Session session;
    const Perplexity got = perplexity(
        *session.loaded.model,
        *session.state,
        session.loaded.source.tokenizer,
        tokens,
        {.window = size, .path = session.loaded.runtime.path});
    EXPECT_EQ(got.windows, 200 / size);
    EXPECT_EQ(got.tokens, got.windows * (size - 1 - size / 2));
    EXPECT_NEAR(got.nll, naive_nll(tokens, size), 1e-5);
    EXPECT_DOUBLE_EQ(got.ppl, std::exp(got.nll));
    EXPECT_EQ(session.state->bytes().get(), 0);
  }
}

TEST(Perplexity, DoesNotDependOnTheChunk) {
  const auto tokens = text_tokens(130);
  std::vector<double> nll;
  for (const int64_t chunk : {1, 9, 512}) {
    Session session;
    nll.push_back(
        perplexity(
            *session.loaded.model,
            *session.state,
            session.loaded.source.tokenizer,
            tokens,
            {.window = 65, .chunk = chunk, .path = session.loaded.runtime.path})
            .nll);
  }
  EXPECT_EQ(nll[0], nll[1]);
  EXPECT_EQ(nll[0], nll[2]);
}

TEST(Perplexity, RefusesATextShorterThanAWindow) {
  Session session;
  const auto tokens = text_tokens(10);
  const auto run = [&](int64_t window) {
    perplexity(
        *session.loaded.model,
        *session.state,
        session.loaded.source.tokenizer,
        tokens,
        {.window = window});
  };
  EXPECT_THROW(run(11), Error);
  EXPECT_THROW(run(3), Error);
  EXPECT_NO_THROW(run(10));
}

} // namespace
} // namespace holdfast
