// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A run that dies, at any step, and runs again under its key ends with the ids,
// the text and the log-probabilities of one that nothing interrupted.

#include "holdfast/engine/resumable_run.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/formats/utf8.h"
#include "tests/code_of.h"
#include "tests/engine/resumable_rig.h"
#include "tests/models/folder_rig.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// How often a run asks for the time.
int64_t steps_of(const Request& request) {
  Process process(request, MemoryFileSystem::make());
  const auto clock = std::make_shared<StepClock>();
  const auto run = process.begin(clock);
  process.run(run.get());
  return clock->steps();
}

/// Dies at every `stride`-th step and runs again, to its end or, where `twice`,
/// to another death first.
void expect_resumes(
    const Request& request,
    int64_t stride,
    bool twice = false) {
  const auto expected = uninterrupted(request);
  const int64_t steps = steps_of(request);
  int64_t resumed = 0;
  int64_t reused = 0;
  for (int64_t step = 1; step < steps; step += stride) {
    SCOPED_TRACE(step);
    const auto files = MemoryFileSystem::make();
    ASSERT_FALSE(Process(request, files).run_until(step).has_value());
    if (twice) {
      Process(request, files).run_until(3);
    }
    Process process(request, files);
    const auto run = process.begin(std::make_shared<StepClock>());
    std::vector<std::string> texts(request.texts.size());
    const auto results =
        process.run(run.get(), {.text = [&](int64_t i, std::string_view text) {
                      texts[static_cast<size_t>(i)] += text;
                    }});
    expect_same(results, expected);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(texts[i], expected[i].text); // from its start again
      resumed += results[i].resumed_tokens;
      reused += results[i].reused_tokens;
    }
  }
  EXPECT_GT(resumed, 0);
  EXPECT_GT(reused, 0);
}

TEST(ResumableRun, ThatDiesAtAnyStepEndsAsThoughNothingHadHappened) {
  expect_resumes(Request(), 1);
}

TEST(ResumableRun, ThatDiesTwiceEndsAsThoughNothingHadHappened) {
  expect_resumes(Request(), 5, true);
}

TEST(ResumableRun, KeepsEveryTokenWhereAskedTo) {
  Request request;
  request.every_tokens = 1;
  expect_resumes(request, 7);
}

TEST(ResumableRun, GoesOnAlikeInOtherPrecisionsAndAcrossTheirStart) {
  for (const char* kv : {"q8", "t4@150", "t3/t8@20"}) {
    SCOPED_TRACE(kv);
    Request request;
    request.choice.kv = kv;
    expect_resumes(request, 6);
  }
}

TEST(ResumableRun, GoesOnAlikeInEveryFamily) {
  for (const char* family : kFamilies) {
    SCOPED_TRACE(family);
    auto weights = FolderWeights(model_folder(family), tiny().runtime.executor);
    const auto model = make_model(weights, tiny().runtime);
    Request request;
    request.model = model.get();
    // The models know 64 tokens, of which these bytes are some: fewer than the
    // tokenizer.
    request.texts = {std::string(140, '\x11') + std::string("\x02\x03\x07", 3)};
    expect_resumes(request, 9);
  }
}

// As tables have that are padded to a round size.
TEST(ResumableRun, NeverChoosesARowThatTheTokenizerHasNoPieceOf) {
  const int64_t pieces = tiny().source.tokenizer.size();
  const PaddedModel model(*tiny().model, pieces + 7);
  Request request;
  const auto expected = uninterrupted(request);
  request.model = &model;
  expect_same(uninterrupted(request), expected);
  expect_resumes(request, 9);
  request.options.logprobs = pieces + 3;
  const auto logged = uninterrupted(request);
  ASSERT_FALSE(logged[0].logprobs.empty());
  for (const TokenLogprobs& token : logged[0].logprobs) {
    ASSERT_EQ(std::ssize(token.top), pieces);
  }
}

TEST(ResumableRun, RefusesAPromptOfTokensThatTheModelLacks) {
  auto weights = FolderWeights(model_folder("llama"), tiny().runtime.executor);
  const auto model = make_model(weights, tiny().runtime);
  Request request;
  request.model = model.get();
  request.texts = {"\x02", "the"}; // tokens above 64
  try {
    uninterrupted(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(
        error.what(),
        HasSubstr(
            "[generate] expected tokens below 64, which the model knows"));
    EXPECT_THAT(error.what(), HasSubstr("(prompt 1)"));
  }
}

TEST(ResumableRun, TakesAllPromptsOfACall) {
  Request request;
  request.texts = {"hello the", request.texts[0], "a"};
  request.options.max_tokens = 30;
  request.options.ignore_eos = false;
  expect_resumes(request, 4);
}

// Of the longest text, one stop string that the text runs into and one that it
// begins and does not end.
TEST(ResumableRun, GoesOnAlikeInsideAStopString) {
  Request request;
  const std::string text = uninterrupted(request)[0].text;
  size_t from = text.size() / 2;
  while ((static_cast<unsigned char>(text[from]) & 0xc0) == 0x80) {
    ++from;
  }
  size_t to = from + 8;
  while ((static_cast<unsigned char>(text[to]) & 0xc0) == 0x80) {
    ++to;
  }
  const std::string stop = text.substr(from, to - from);
  request.options.stops = {stop, stop.substr(0, 3) + "never"};
  request.every_tokens = 1;
  if (!is_utf8(stop) || !is_utf8(request.options.stops[1])) {
    request.options.stops = {stop};
  }
  ASSERT_EQ(uninterrupted(request)[0].finish_reason, FinishReason::kStop);
  expect_resumes(request, 1);
}

TEST(ResumableRun, ThatIsInterruptedKeepsItsLastToken) {
  Request request;
  request.every_tokens = 1000;
  const auto files = MemoryFileSystem::make();
  std::vector<Generation> first;
  {
    Process process(request, files);
    const auto run = process.begin(system_clock());
    std::atomic<bool> interrupted{false};
    int64_t pieces = 0;
    first = process.run(
        run.get(),
        {.text = [&](int64_t,
                     std::string_view) { interrupted = ++pieces == 9; },
         .interrupted = &interrupted});
    EXPECT_EQ(first[0].finish_reason, FinishReason::kInterrupted);
    EXPECT_TRUE(run->flush().durable);
    EXPECT_TRUE(process.cache().flush().durable);
  }
  Process process(request, files);
  const auto run = process.begin(system_clock());
  int64_t again = -1; // tokens that are computed once more
  const auto results = process.run(
      run.get(), {.prefill = [&](int64_t, int64_t total) { again = total; }});
  expect_same(results, uninterrupted(request));
  EXPECT_EQ(results[0].resumed_tokens, std::ssize(first[0].ids));
  EXPECT_EQ(results[0].reused_tokens, std::ssize(results[0].prompt_ids));
  EXPECT_EQ(again, 0); // its open blocks are there too
}

TEST(ResumableRun, ThatIsCompleteLeavesNothingToResume) {
  const Request request;
  const auto files = MemoryFileSystem::make();
  {
    Process process(request, files);
    const auto run = process.begin(system_clock());
    process.run(run.get());
    run->flush();
    EXPECT_TRUE(process.cache().checkpoint_body("k").ok());
    run->complete();
    EXPECT_TRUE(run->flush().durable);
    EXPECT_EQ(
        process.cache().checkpoint_body("k").status().code(),
        ErrorCode::kNotFound);
    run->complete(); // harmless
  }
  Process process(request, files);
  EXPECT_FALSE(process.begin(system_clock())->point().has_value());
}

// It died between its last token and its completion.
// A checkpoint waits for the one before it, and the text may end meanwhile:
// what came after the last one that was written is computed again, and no more.
TEST(ResumableRun, ThatHadFinishedGivesItsTextAgainFromItsLastCheckpoint) {
  Request request;
  request.every_tokens = 1;
  const auto files = MemoryFileSystem::make();
  const auto expected = *Process(request, files).run_until(-1);
  Process process(request, files);
  const auto clock = std::make_shared<StepClock>();
  const auto run = process.begin(clock);
  EXPECT_TRUE(run->point().has_value()); // of the prompt's end, if no later one
  const int64_t before = clock->steps();
  std::string text;
  const auto results = process.run(
      run.get(),
      {.text = [&](int64_t, std::string_view more) { text += more; }});
  const int64_t again = std::ssize(results[0].ids) - results[0].resumed_tokens;
  EXPECT_LE(clock->steps(), before + again + 1);
  expect_same(results, expected);
  EXPECT_EQ(text, expected[0].text);
}

TEST(ResumableRun, CarriesAttachmentsWithItsCheckpoints) {
  const Request request;
  const auto files = MemoryFileSystem::make();
  const RecordBody::Part draft{3, std::string("draft\0state", 11)};
  {
    Process process(request, files);
    const auto run = process.begin(std::make_shared<StepClock>(20));
    run->attach("draft", draft);
    EXPECT_THROW(process.run(run.get()), Died);
    EXPECT_TRUE(run->flush().durable);
    EXPECT_EQ(
        code_of([&] { run->attach(".resume", draft); }),
        ErrorCode::kInvalidArgument);
  }
  Process process(request, files);
  const auto run = process.begin(system_clock());
  EXPECT_EQ(run->attachments(), RecordBody().set("draft", draft));
  process.run(run.get()); // and on
  run->flush();
  EXPECT_EQ(*process.cache().checkpoint_body("k").value().find("draft"), draft);
}

TEST(ResumableRun, RefusesAKeyThatAnotherProcessRuns) {
  const Request request;
  const auto files = MemoryFileSystem::make();
  Process one(request, files);
  Process other(request, files);
  auto first = one.begin(system_clock());
  EXPECT_EQ(
      code_of([&] { other.begin(system_clock()); }), ErrorCode::kUnsupported);
  first.reset();
  EXPECT_EQ(code_of([&] { other.begin(system_clock()); }), ErrorCode::kOk);
}

std::string
refusal(const Request& given, const std::function<void(Request&)>& change) {
  const auto files = MemoryFileSystem::make();
  Process(given, files).run_until(8);
  Request request = given;
  change(request);
  Process process(request, files);
  const auto run = process.begin(system_clock());
  try {
    process.run(run.get());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
  return "";
}

TEST(ResumableRun, RefusesOtherOptionsNamingTheField) {
  Request given;
  given.options.stops = {"never to be seen"};
  const auto refused =
      [&](const std::function<void(GenerateOptions&)>& change) {
        return refusal(
            given, [&](Request& request) { change(request.options); });
      };
  using O = GenerateOptions&;
  EXPECT_EQ(refused([](O) {}), "");
  EXPECT_EQ(refused([](O o) { o.chunk = 7; }), ""); // changes no bits
  const auto names = [&](const std::function<void(GenerateOptions&)>& change,
                         const char* text) {
    EXPECT_THAT(refused(change), HasSubstr(text));
  };
  names(
      [](O o) { o.sampling.temperature = 1; },
      "temperature: expected 0.9, got 1");
  names([](O o) { o.sampling.top_k = 3; }, "top-k: expected 0, got 3");
  names([](O o) { o.sampling.top_p = 0.5; }, "top-p: expected 1, got 0.5");
  names([](O o) { o.sampling.min_p = 0.5; }, "min-p");
  names([](O o) { o.sampling.repeat_penalty = 2; }, "repeat-penalty");
  names([](O o) { o.sampling.presence_penalty = 2; }, "presence-penalty");
  names([](O o) { o.sampling.frequency_penalty = 2; }, "frequency-penalty");
  names([](O o) { o.sampling.seed = 5; }, "seed: expected 4, got 5");
  names([](O o) { o.max_tokens = 41; }, "max-tokens: expected 40, got 41");
  names([](O o) { o.context = 200; }, "context: expected 256, got 200");
  names([](O o) { o.ignore_eos = false; }, "ignore-eos: expected yes, got no");
  names([](O o) { o.logprobs = 3; }, "logprobs: expected 2, got 3");
  names([](O o) { o.logprobs.reset(); }, "logprobs: expected 2, got none");
  names([](O o) { o.stops[0] = "x"; }, "stop 1");
  names([](O o) { o.stops.push_back("x"); }, "stop 2: expected no such field");
  EXPECT_THAT(
      refusal(given, [](Request& r) { r.choice.kv = "q8"; }),
      HasSubstr("state "));
  EXPECT_THAT(
      refusal(given, [](Request& r) { r.texts[0] += "x"; }),
      HasSubstr("prompt 0"));
  EXPECT_THAT(
      refusal(given, [](Request& r) { r.texts[0][3] = 'x'; }),
      HasSubstr("prompt 0"));
  EXPECT_THAT(
      refusal(given, [](Request& r) { r.texts.push_back("a"); }),
      HasSubstr("number of prompts: expected 1, got 2"));
}

TEST(ResumableRun, SaysTheSeedOfTheInterruptedRun) {
  const Request request;
  const auto files = MemoryFileSystem::make();
  Process(request, files).run_until(2); // before any checkpoint was due
  Process process(request, files);
  const auto run = process.begin(system_clock());
  EXPECT_EQ(run->seed(), request.options.sampling.seed);
}

} // namespace
} // namespace holdfast::test
