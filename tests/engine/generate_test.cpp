// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

using test::Session;
using test::trace;

const std::vector<std::string> kTexts = {
    "hello the",
    "a",
    "the hello the hello bcd the quick brown fox and the lazy dog, twice over; "
    "the window is long past by now",
    "\xe6\x97\xa5\xe6\x9c\xac"};

GenerateOptions greedy(int64_t tokens) {
  GenerateOptions options;
  options.max_tokens = tokens;
  options.sampling.temperature = 0;
  options.ignore_eos = true;
  options.logprobs = 3;
  return options;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Generate, GivesEachPromptTheSameBitsAloneAndAmongOthers) {
  for (const double temperature : {0.0, 1.0}) {
    GenerateOptions options = greedy(24);
    options.sampling.temperature = temperature;
    options.sampling.seed = 11;
    const auto together = Session().run(kTexts, options);
    for (size_t i = 0; i < kTexts.size(); ++i) {
      const auto alone = Session().run({kTexts[i]}, options);
      EXPECT_EQ(alone[0].ids, together[i].ids);
      EXPECT_EQ(trace(alone[0]), trace(together[i]));
      EXPECT_EQ(alone[0].text, together[i].text);
    }
  }
}

// Rows change their precision one by one, some during their prompt.
TEST(Generate, GivesTheSameBitsWhereThePrecisionChanges) {
  for (const char* kv : {"t4@20", "t3/t8@5", "t8@1"}) {
    const StateChoice choice{.kv = kv};
    const auto together = Session(test::tiny(), choice).run(kTexts, greedy(24));
    GenerateOptions options = greedy(24);
    options.chunk = 7;
    for (size_t i = 0; i < kTexts.size(); ++i) {
      const auto alone =
          Session(test::tiny(), choice).run({kTexts[i]}, options);
      EXPECT_EQ(trace(alone[0]), trace(together[i])) << kv;
    }
    const auto dense = Session().run(kTexts, greedy(24));
    EXPECT_NE(trace(together[2]), trace(dense[2])) << kv;
  }
}

TEST(Generate, GivesTheSameBitsForEveryChunkAndNumberOfThreads) {
  const auto expected = Session().run(kTexts, greedy(12));
  for (const int64_t chunk : {1, 7, 64}) {
    GenerateOptions options = greedy(12);
    options.chunk = chunk;
    const auto got = Session().run(kTexts, options);
    for (size_t i = 0; i < kTexts.size(); ++i) {
      EXPECT_EQ(trace(got[i]), trace(expected[i])) << chunk;
    }
  }
  const LoadedModel two = test::load_tiny(2);
  const auto got = Session(two).run(kTexts, greedy(12));
  for (size_t i = 0; i < kTexts.size(); ++i) {
    EXPECT_EQ(trace(got[i]), trace(expected[i]));
  }
}

TEST(Generate, StreamsTheTextOfEachPromptAsItReturnsIt) {
  std::vector<std::string> streamed(kTexts.size());
  GenerateHooks hooks;
  hooks.text = [&](int64_t index, std::string_view text) {
    streamed[static_cast<size_t>(index)] += text;
  };
  GenerateOptions options = greedy(20);
  options.sampling.temperature = 1; // bytes in no order: many invalid ones
  const auto results = Session().run(kTexts, options, hooks);
  for (size_t i = 0; i < kTexts.size(); ++i) {
    EXPECT_EQ(streamed[i], results[i].text);
    EXPECT_EQ(results[i].ids.size(), 20u);
    EXPECT_EQ(results[i].finish_reason, FinishReason::kLength);
  }
}

TEST(Generate, EndsAtAnEndTokenUnlessToldToIgnoreIt) {
  GenerateOptions options = greedy(10);
  const auto free = Session().run({"hello"}, options);
  const int32_t end = free[0].ids[4];
  const auto first = std::find(free[0].ids.begin(), free[0].ids.end(), end) + 1;
  Session session;
  const std::vector<int32_t> ends = {end};
  session.generator.end_tokens = ends;
  EXPECT_EQ(session.run({"hello"}, options)[0].ids, free[0].ids);
  options.ignore_eos = false;
  const auto ended = session.run({"hello"}, options);
  EXPECT_EQ(ended[0].finish_reason, FinishReason::kEos);
  EXPECT_EQ(ended[0].ids, std::vector<int32_t>(free[0].ids.begin(), first));
}

TEST(Generate, EndsBeforeAStopStringThatSpansTokens) {
  GenerateOptions options = greedy(16);
  const auto free = Session().run({"hello"}, options);
  const std::string& text = free[0].text;
  ASSERT_GT(text.size(), 8u);
  size_t from = 3; // at the start of a character
  while ((static_cast<unsigned char>(text[from]) & 0xc0) == 0x80) {
    ++from;
  }
  size_t to = from + 3;
  while (to < text.size() &&
         (static_cast<unsigned char>(text[to]) & 0xc0) == 0x80) {
    ++to;
  }
  options.stops = {text.substr(from, to - from)};
  const auto stopped = Session().run({"hello"}, options);
  EXPECT_EQ(stopped[0].finish_reason, FinishReason::kStop);
  EXPECT_EQ(stopped[0].text, text.substr(0, text.find(options.stops[0])));
  EXPECT_EQ(stopped[0].logprobs.size(), stopped[0].ids.size());
}

TEST(Generate, FillsTheContextAndNotMore) {
  GenerateOptions options = greedy(100);
  const auto prompt = test::encode({"hello the"});
  options.context = static_cast<int64_t>(prompt[0].size()) + 5;
  const auto results = Session().run({"hello the"}, options);
  EXPECT_EQ(results[0].finish_reason, FinishReason::kContext);
  EXPECT_EQ(results[0].ids.size(), 6u); // the last one needs no position
}

TEST(Generate, TakesAPromptThatFillsTheContextAndRefusesALongerOne) {
  const auto prompt = test::encode({"hello the"});
  GenerateOptions options = greedy(3);
  options.context = static_cast<int64_t>(prompt[0].size());
  EXPECT_EQ(Session().run({"hello the"}, options)[0].ids.size(), 1u);
  --options.context;
  Session session;
  EXPECT_THAT(
      error_of([&] {
        session.run({"a", "hello the"}, options);
      }),
      testing::AllOf(
          testing::HasSubstr("at most " + std::to_string(options.context)),
          testing::HasSubstr("got " + std::to_string(prompt[0].size())),
          testing::HasSubstr("prompt 1")));
  EXPECT_EQ(session.state->bytes().get(), 0);
}

TEST(Generate, RefusesAnEmptyPromptAndOptionsOutOfRange) {
  Session session;
  EXPECT_THROW(session.generator.run({{}}, greedy(1)), Error);
  GenerateOptions options = greedy(1);
  options.max_tokens = 0;
  EXPECT_THROW(session.run({"a"}, options), Error);
  options = greedy(1);
  options.chunk = 0;
  EXPECT_THROW(session.run({"a"}, options), Error);
  options = greedy(1);
  options.logprobs = -1;
  EXPECT_THROW(session.run({"a"}, options), Error);
  options = greedy(1);
  options.stops = {""};
  EXPECT_THROW(session.run({"a"}, options), Error);
}

TEST(Generate, LeavesNoRowBehind) {
  Session session;
  session.run(kTexts, greedy(5));
  EXPECT_EQ(session.state->bytes().get(), 0);
  EXPECT_GT(session.state->peak_bytes().get(), 0);
}

TEST(Generate, LeavesAUsableStateWhereTheBudgetEnds) {
  const auto expected = Session().run({"hello"}, greedy(4));
  Session full;
  full.run({"hello"}, greedy(4));
  Session session(test::tiny(), {.max_bytes = full.state->peak_bytes()});
  EXPECT_THROW(session.run({kTexts[2]}, greedy(60)), Error);
  EXPECT_EQ(session.state->bytes().get(), 0);
  EXPECT_EQ(trace(session.run({"hello"}, greedy(4))[0]), trace(expected[0]));
}

TEST(Generate, StopsSoonAfterAnInterruptAndKeepsWhatItHas) {
  std::atomic<bool> interrupted{false};
  GenerateHooks hooks;
  int64_t fed = 0;
  hooks.prefill = [&](int64_t done, int64_t total) {
    fed = done;
    interrupted = done > total / 2;
  };
  hooks.interrupted = &interrupted;
  GenerateOptions options = greedy(50);
  options.chunk = 4;
  Session session;
  const auto results = session.run(kTexts, options, hooks);
  size_t prompt = 0;
  for (const Generation& result : results) {
    prompt += result.prompt_ids.size();
    EXPECT_EQ(result.finish_reason, FinishReason::kInterrupted);
    EXPECT_LE(result.ids.size(), 1u);
  }
  EXPECT_LT(fed, static_cast<int64_t>(prompt));
  EXPECT_EQ(session.state->bytes().get(), 0);
}

} // namespace
} // namespace holdfast
