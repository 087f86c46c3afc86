// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/json_lines.h"
#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::vector<Json> objects(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json_lines(outcome.out);
}

std::vector<Json>
generate(const std::vector<std::string>& rest, const std::string& input = "") {
  auto arguments = with_model({"generate", "--json"}, rest);
  return objects(run(arguments, input));
}

TEST(GenerateCommand, PrintsTheTextToStandardOutputAndTheRestToStandardError) {
  const std::vector<std::string> rest = {
      "-p", "hello the", "-n", "12", "--seed", "5"};
  const Json json = generate(rest).at(0);
  const Outcome plain = run(with_model({"generate"}, rest));
  EXPECT_EQ(plain.code, 0);
  const auto text = json["text"].get<std::string>();
  EXPECT_EQ(plain.out, text.ends_with('\n') ? text : text + "\n");
  EXPECT_THAT(plain.err, HasSubstr("prompt tokens"));
  EXPECT_THAT(plain.err, HasSubstr("seed 5"));
  EXPECT_EQ(std::count(plain.err.begin(), plain.err.end(), '\n'), 1);
}

TEST(GenerateCommand, GivesTheDocumentedFieldsInOneObjectForEachPrompt) {
  const auto all = generate(
      {"-p", "hello", "-p", "the", "-n", "6", "--ignore-eos", "--seed", "9"});
  ASSERT_EQ(all.size(), 2u);
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<std::string> names;
    for (const auto& item : all[i].items()) {
      names.push_back(item.key());
    }
    EXPECT_THAT(
        names,
        testing::UnorderedElementsAre(
            "index",
            "text",
            "prompt_ids",
            "ids",
            "finish_reason",
            "prompt_tokens",
            "reused_tokens",
            "reused_from_disk",
            "reuse",
            "resumed_tokens",
            "generated_tokens",
            "load_ms",
            "first_token_ms",
            "prefill_tok_s",
            "decode_tok_s",
            "state_bytes",
            "kv",
            "seed"));
    EXPECT_EQ(all[i]["index"], i);
    EXPECT_EQ(all[i]["ids"].size(), 6u);
    EXPECT_EQ(all[i]["generated_tokens"], 6);
    EXPECT_EQ(all[i]["prompt_tokens"], all[i]["prompt_ids"].size());
    EXPECT_EQ(all[i]["finish_reason"], "length");
    EXPECT_EQ(all[i]["seed"], 9);
    EXPECT_EQ(all[i]["kv"], "bf16");
    EXPECT_GT(all[i]["state_bytes"], 0);
    EXPECT_GT(all[i]["load_ms"], 0.0);
    EXPECT_GT(all[i]["decode_tok_s"], 0.0);
  }
}

// A second process begins with what the first one left, and says the same.
TEST(GenerateCommand, BeginsWithWhatAnEarlierRunKeptAndGivesTheSameIds) {
  const std::string folder = scratch("state");
  const std::vector<std::string> arguments = {
      "-p",
      "hello the hello the hello",
      "-n",
      "6",
      "--ignore-eos",
      "--seed",
      "9",
      "--state",
      folder};
  const auto first = generate(arguments);
  const auto again = generate(arguments);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(first[0]["reused_tokens"], 0);
  EXPECT_EQ(
      again[0]["reused_tokens"].get<int>(),
      again[0]["prompt_tokens"].get<int>() - 1);
  EXPECT_EQ(again[0]["reused_from_disk"], again[0]["reused_tokens"]);
  EXPECT_EQ(again[0]["ids"], first[0]["ids"]);
}

TEST(GenerateCommand, GivesEachPromptTheSameIdsAloneAndInABatch) {
  const std::vector<std::string> common = {"-n", "8", "--seed", "3"};
  auto both = common;
  both.insert(both.end(), {"-p", "hello", "-p", "the hello the"});
  const auto together = generate(both);
  for (const Json& one : together) {
    auto alone = common;
    alone.insert(
        alone.end(), {"-p", one["index"] == 0 ? "hello" : "the hello the"});
    EXPECT_EQ(generate(alone).at(0)["ids"], one["ids"]);
  }
}

TEST(GenerateCommand, ReportsASeedThatRepeatsTheText) {
  const Json first = generate({"-p", "hello", "-n", "10"}).at(0);
  const Json again =
      generate({"-p", "hello", "-n", "10", "--seed", first["seed"].dump()})
          .at(0);
  EXPECT_EQ(again["ids"], first["ids"]);
}

TEST(GenerateCommand, AddsLogProbabilitiesWhereAskedFor) {
  const Json json = generate({"-p",
                              "hello",
                              "-n",
                              "4",
                              "--temp",
                              "0",
                              "--ignore-eos",
                              "--logprobs",
                              "3"})
                        .at(0);
  ASSERT_EQ(json["logprobs"].size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const Json& token = json["logprobs"][i];
    EXPECT_EQ(token["id"], json["ids"][i]);
    ASSERT_EQ(token["top"].size(), 3u);
    EXPECT_EQ(
        token["top"][0],
        (Json{{"id", token["id"]}, {"logprob", token["logprob"]}}));
    EXPECT_GE(token["top"][0]["logprob"], token["top"][1]["logprob"]);
    EXPECT_LT(token["logprob"], 0.0);
  }
}

TEST(GenerateCommand, TakesAnyBytesFromArgumentFileAndStandardInput) {
  const std::string bytes = "he\xff\xc3(\x01\r\n\n {} %% [a,b] \xe6\x97";
  const std::string path = scratch("prompt");
  std::ofstream(path, std::ios::binary) << bytes;
  const Json file = generate({"-f", path, "-n", "2"}).at(0);
  const Json input = generate({"-n", "2"}, bytes).at(0);
  const Json argument = generate({"-p", bytes, "-n", "2"}).at(0);
  std::filesystem::remove(path);
  EXPECT_EQ(file["prompt_ids"], input["prompt_ids"]);
  EXPECT_EQ(file["prompt_ids"], argument["prompt_ids"]);
  EXPECT_GT(file["prompt_ids"].size(), 10u);
  for (const char* odd : {"{}", "%%", "[x]", "-p", "--help"}) {
    EXPECT_GT(generate({"-p", odd, "-n", "1"}).at(0)["prompt_tokens"], 1)
        << odd;
  }
}

TEST(GenerateCommand, StopsBeforeAStopString) {
  const Json free =
      generate({"-p", "a", "-n", "40", "--seed", "2", "--ignore-eos"}).at(0);
  const auto text = free["text"].get<std::string>();
  const size_t at = text.find_first_of("abcdehlot");
  ASSERT_NE(at, std::string::npos);
  const Json stopped = generate({"-p",
                                 "a",
                                 "-n",
                                 "40",
                                 "--seed",
                                 "2",
                                 "--ignore-eos",
                                 "--stop",
                                 text.substr(at, 1)})
                           .at(0);
  EXPECT_EQ(stopped["finish_reason"], "stop");
  EXPECT_EQ(stopped["text"], text.substr(0, at));
}

TEST(GenerateCommand, GivesTheSameIdsOnEveryKernelPathAndNumberOfThreads) {
  const std::vector<std::string> rest = {
      "-p", "hello the hello", "-n", "8", "--temp", "0"};
  const Json best = generate(rest).at(0);
  auto arguments = std::vector<std::string>{
      "generate",
      "--json",
      "-m",
      model_path(),
      "--threads",
      "2",
      "--kernels",
      "plain"};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  EXPECT_EQ(objects(run(arguments)).at(0)["ids"], best["ids"]);
}

TEST(GenerateCommand, RefusesAPromptLongerThanTheContext) {
  const Outcome outcome =
      run(with_model({"generate"}, {"-p", "hello hello", "--context", "3"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("at most 3 tokens"));
  EXPECT_EQ(outcome.out, "");
}

TEST(GenerateCommand, FailsWhereTheStateBudgetEnds) {
  const Outcome outcome = run(
      with_model({"generate"}, {"-p", "hello", "--max-state-bytes", "1000"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
}

TEST(GenerateCommand, EndsWithALineWhereStandardOutputTakesNoMore) {
  const Outcome full =
      Program(
          with_model({"generate"}, {"-p", "a", "--ignore-eos"}),
          "",
          "/dev/full")
          .wait();
  EXPECT_EQ(full.code, 1);
  EXPECT_TRUE(full.one_line_of_error()) << full.err;
  EXPECT_THAT(full.err, HasSubstr("standard output"));
}

/// A run without end that gets `signal` once it has written text ends with what
/// it has, its summary and exit code 128 + signal.
void expect_summary_after(int signal) {
  Program program(with_model(
      {"generate"},
      {"-p", "a", "-n", "10000000", "--context", "10000000", "--ignore-eos"}));
  while (read_file(program.out_path()).empty()) {
    usleep(1000);
    ASSERT_EQ(kill(program.pid(), 0), 0);
  }
  kill(program.pid(), signal);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 128 + signal) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("generated at"));
  EXPECT_TRUE(outcome.out.ends_with('\n'));
}

TEST(GenerateCommand, GivesTheSameTextsAndLogprobsWithCompiledSteps) {
  const std::vector<std::string> rest = {
      "-p",
      "hello the",
      "-p",
      "a",
      "-n",
      "90",
      "--kv",
      "q8g32/t4@40",
      "--seed",
      "3",
      "--ignore-eos",
      "--json",
      "--logprobs",
      "2",
      "--verbose"};
  std::vector<std::string> compiled = rest;
  compiled.emplace_back("--compiled");
  const Outcome plain = run(with_model({"generate"}, rest));
  const Outcome replayed = run(with_model({"generate"}, compiled));
  const auto expected = objects(plain);
  const auto got = objects(replayed);
  ASSERT_EQ(got.size(), 2u);
  for (size_t i = 0; i < got.size(); ++i) {
    for (const char* field : {"ids", "text", "logprobs", "state_bytes"}) {
      EXPECT_EQ(got[i][field], expected[i][field]) << field;
    }
    EXPECT_EQ(got[i]["ids"].size(), 90u);
  }
  // All steps that decode have two tokens.
  EXPECT_THAT(replayed.err, HasSubstr("1 graphs of steps recorded"));
  EXPECT_THAT(plain.err, testing::Not(HasSubstr("recorded")));
}

TEST(GenerateCommand, FinishesOnInterruptWithItsSummary) {
  expect_summary_after(SIGINT); // 130
}

TEST(GenerateCommand, PrintsWhatItHasWhenTerminated) {
  expect_summary_after(SIGTERM); // 143
}

} // namespace
} // namespace holdfast::test
