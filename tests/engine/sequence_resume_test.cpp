// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A sequence that is captured after any token and made again goes on as though
// nothing had happened. Its logits are a function of its tokens, so no model is
// needed.

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/engine/sequence.h"
#include "holdfast/formats/utf8.h"
#include "tests/code_of.h"
#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

using test::tiny;

/// What a model would say after these tokens: bytes, words and ends of text.
std::vector<float> logits_after(const std::vector<int32_t>& tokens) {
  std::seed_seq seed(tokens.begin(), tokens.end());
  std::mt19937 random(seed);
  std::vector<float> logits(
      static_cast<size_t>(tiny().source.tokenizer.size()));
  for (float& logit : logits) {
    logit = static_cast<float>(random() % 1000) / 150.0f;
  }
  return logits;
}

class Case {
 public:
  std::string name;
  GenerateOptions options;
  int64_t context = 1000;

  SequenceRules rules() const {
    return {
        tiny().source.tokenizer,
        tiny().source.end_tokens,
        options,
        context,
        tiny().runtime.path};
  }
};

std::vector<Case> cases() {
  Case plain{"greedy", {}};
  plain.options.max_tokens = 40;
  plain.options.sampling.temperature = 0;
  plain.options.ignore_eos = true;
  std::vector<Case> all{plain};
  const auto add = [&](const char* name,
                       const std::function<void(Case&)>& change) {
    all.push_back(plain);
    all.back().name = name;
    all.back().options.sampling.temperature = 0.9;
    all.back().options.sampling.seed = 77;
    change(all.back());
  };
  using C = Case&;
  add("drawn", [](C) {});
  add("top-k", [](C c) { c.options.sampling.top_k = 12; });
  add("top-p", [](C c) { c.options.sampling.top_p = 0.7; });
  add("min-p", [](C c) { c.options.sampling.min_p = 0.3; });
  add("repeat penalty", [](C c) { c.options.sampling.repeat_penalty = 1.4; });
  add("penalties", [](C c) {
    c.options.sampling.presence_penalty = 0.6;
    c.options.sampling.frequency_penalty = 0.4;
  });
  add("logprobs", [](C c) { c.options.logprobs = 4; });
  add("more logprobs than tokens", [](C c) { c.options.logprobs = 5000; });
  add("its choice's logprob alone", [](C c) { c.options.logprobs = 0; });
  add("an end of text", [](C c) { c.options.ignore_eos = false; });
  add("the context's end", [](C c) { c.context = 20; });
  return all;
}

const std::vector<int32_t>& prompt() {
  static const auto tokens = test::encode({"hello the"})[0];
  return tokens;
}

/// Takes one step; what became certain.
std::string step(Sequence& sequence) {
  sequence.advance(sequence.ahead());
  sequence.choose(logits_after(sequence.tokens()));
  return sequence.accept();
}

struct Whole {
  Generation result;
  std::vector<ResumeRow> points; // [tokens chosen]
};

Whole run(const Case& given) {
  const SequenceRules rules = given.rules();
  Sequence sequence(rules, prompt());
  Whole whole;
  whole.points.push_back(sequence.capture());
  while (!sequence.finished()) {
    step(sequence);
    whole.points.push_back(sequence.capture());
  }
  whole.result = sequence.result();
  return whole;
}

void expect_equal(const Generation& got, const Generation& expected) {
  EXPECT_EQ(got.ids, expected.ids);
  EXPECT_EQ(got.text, expected.text);
  EXPECT_EQ(got.finish_reason, expected.finish_reason);
  EXPECT_EQ(test::trace(got), test::trace(expected));
  EXPECT_EQ(got.logprobs.size(), expected.logprobs.size());
}

/// Through the encoding, as from a disk.
ResumeRow stored(const ResumeRow& row) {
  ResumePoint point;
  point.rows = {row};
  return decode_resume_point(encode(point)).value().rows[0];
}

void expect_resumes_everywhere(const Case& given) {
  SCOPED_TRACE(given.name);
  const Whole whole = run(given);
  for (const ResumeRow& point : whole.points) {
    const SequenceRules rules = given.rules();
    Sequence sequence(rules, prompt());
    sequence.restore(stored(point));
    EXPECT_EQ(sequence.capture(), point);
    EXPECT_EQ(sequence.result().resumed_tokens, std::ssize(point.ids));
    std::string text = sequence.result().text;
    while (!sequence.finished()) {
      text += step(sequence);
    }
    expect_equal(sequence.result(), whole.result);
    EXPECT_EQ(text, whole.result.text);
  }
}

TEST(SequenceResume, AtEveryTokenWithEveryOptionGoesOnAlike) {
  for (const Case& each : cases()) {
    expect_resumes_everywhere(each);
  }
}

// The text of a run without stop strings, cut out wherever it allows it.
TEST(SequenceResume, InsideAStopStringThatSpansTokensGoesOnAlike) {
  Case drawn = cases()[1];
  const std::string text = run(drawn).result.text;
  int64_t stopped = 0;
  for (size_t from = 1; from + 9 < text.size(); from += 5) {
    drawn.options.stops = {text.substr(from, 9), "never to be seen"};
    if (!is_utf8(drawn.options.stops[0])) {
      continue;
    }
    drawn.name = "stop at " + std::to_string(from);
    const Whole whole = run(drawn);
    stopped += whole.result.finish_reason == FinishReason::kStop;
    bool spans = false;
    for (const ResumeRow& point : whole.points) {
      spans |= !point.held.empty();
    }
    EXPECT_TRUE(spans);
    expect_resumes_everywhere(drawn);
  }
  EXPECT_GT(stopped, 0);
}

// Three tokens of bytes make a character: two of them are held back.
TEST(SequenceResume, InsideACharacterGoesOnAlike) {
  Case given = cases()[0];
  const SequenceRules rules = given.rules();
  const auto& tokenizer = tiny().source.tokenizer;
  const std::vector<int32_t> bytes = {
      tokenizer.find("<0xE6>"),
      tokenizer.find("<0x97>"),
      tokenizer.find("<0xA5>")};
  ResumeRow row;
  row.prompt = prompt();
  row.ids = {bytes[0], bytes[1]};
  row.held = "\xe6\x97";
  Sequence sequence(rules, prompt());
  sequence.restore(row);
  EXPECT_EQ(sequence.capture(), row);
  std::vector<float> logits(static_cast<size_t>(tokenizer.size()));
  logits[static_cast<size_t>(bytes[2])] = 9;
  sequence.advance(sequence.ahead());
  sequence.choose(logits);
  EXPECT_EQ(sequence.accept(), "\xe6\x97\xa5");
}

TEST(SequenceResume, WhatIsChosenAndNotAcceptedIsNotCaptured) {
  const Case given = cases()[7];
  const SequenceRules rules = given.rules();
  Sequence sequence(rules, prompt());
  step(sequence);
  const ResumeRow before = sequence.capture();
  sequence.advance(sequence.ahead());
  sequence.choose(logits_after(sequence.tokens()));
  EXPECT_EQ(sequence.capture(), before);
}

TEST(SequenceResume, FeedsPromptAndChoicesUpToTheLastOne) {
  const Case given = cases()[1];
  const ResumeRow point = run(given).points[5];
  const SequenceRules rules = given.rules();
  Sequence sequence(rules, prompt());
  sequence.restore(point);
  const auto all = sequence.tokens();
  ASSERT_EQ(all.size(), prompt().size() + 5);
  std::vector<int32_t> fed;
  while (sequence.ahead() > 0) {
    EXPECT_EQ(sequence.prefilling(), sequence.ahead() > 1);
    const auto part = sequence.pending(3);
    ASSERT_GE(part.size(), 1u);
    ASSERT_LE(part.size(), 3u);
    fed.insert(fed.end(), part.begin(), part.end());
    sequence.advance(std::ssize(part));
  }
  EXPECT_EQ(fed, all);
}

TEST(SequenceResume, AnotherTextThanThatOfItsTokensIsRefused) {
  Case given = cases()[7];
  given.options.stops = {"never to be seen"};
  const ResumeRow good = run(given).points[6];
  const auto code = [&](const std::function<void(ResumeRow&)>& change) {
    ResumeRow row = good;
    change(row);
    const SequenceRules rules = given.rules();
    Sequence sequence(rules, prompt());
    return code_of([&] { sequence.restore(row); });
  };
  EXPECT_EQ(code([](ResumeRow&) {}), ErrorCode::kOk);
  using R = ResumeRow&;
  constexpr ErrorCode kBad = ErrorCode::kCorrupt;
  EXPECT_EQ(code([](R row) { row.text += "x"; }), kBad);
  EXPECT_EQ(code([](R row) { row.held += "x"; }), kBad);
  EXPECT_EQ(code([](R row) { row.finished = true; }), kBad);
  EXPECT_EQ(code([](R row) { row.prompt[0] ^= 1; }), kBad);
  EXPECT_EQ(code([](R row) { row.ids[2] = -1; }), kBad);
  EXPECT_EQ(code([](R row) { row.ids[2] = 1 << 20; }), kBad);
  EXPECT_EQ(code([](R row) { row.logged_ids[5] ^= 1; }), kBad);
  EXPECT_EQ(code([](R row) { row.logged = 0; }), kBad);
}

TEST(SequenceResume, TokensAfterTheEndAreRefused) {
  Case given = cases()[0];
  ResumeRow row = run(given).points.back();
  given.options.max_tokens = 3;
  const SequenceRules rules = given.rules();
  Sequence sequence(rules, prompt());
  EXPECT_EQ(code_of([&] { sequence.restore(row); }), ErrorCode::kCorrupt);
}

} // namespace
} // namespace holdfast
