// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> bench_attend(const std::vector<std::string>& rest) {
  std::vector<std::string> arguments = {
      "bench", "attend", "--threads", "2", "--positions", "320", "--time", "1"};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

std::vector<std::string> names_of(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) {
    names.push_back(item.key());
  }
  return names;
}

/// A line of decode over chains of 320 positions, 2 key-value heads.
void expect_decode_agrees(const Json& json) {
  EXPECT_THAT(
      names_of(json),
      testing::UnorderedElementsAre(
          "what",
          "kernels",
          "threads",
          "kv",
          "query_heads",
          "kv_heads",
          "dim",
          "rows",
          "positions",
          "gb_s",
          "read_gb_s",
          "share",
          "positions_s",
          "step_us",
          "times_bf16"));
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["positions"], 320);
  const double bytes =
      json["gb_s"].get<double>() * 1e3 * json["step_us"].get<double>();
  if (json["kv"] == "bf16") {
    const double stored = json["rows"].get<double>() * 320 * 2 * 2 * 2 *
        json["dim"].get<double>();
    EXPECT_NEAR(bytes, stored, 1.0);
  }
  EXPECT_NEAR(
      json["share"].get<double>(),
      json["gb_s"].get<double>() / json["read_gb_s"].get<double>(),
      1e-6);
  EXPECT_NEAR(
      json["positions_s"].get<double>() * json["step_us"].get<double>() / 1e6,
      json["rows"].get<double>() * 320,
      1e-3);
  EXPECT_GT(json["times_bf16"], 0.0);
}

/// A line of prefill of 70 tokens, 4 query heads.
void expect_prefill_agrees(const Json& json) {
  EXPECT_THAT(
      names_of(json),
      testing::UnorderedElementsAre(
          "what",
          "kernels",
          "threads",
          "kv",
          "query_heads",
          "kv_heads",
          "dim",
          "tokens",
          "tflops",
          "register_tflops",
          "share",
          "tok_s"));
  const double seconds = 70 / json["tok_s"].get<double>();
  const double pairs = 70 * 71 / 2 * 4;
  EXPECT_NEAR(
      json["tflops"].get<double>() * 1e12 * seconds,
      pairs * 4 * json["dim"].get<double>(),
      1.0);
  EXPECT_GT(json["share"], 0.0);
  EXPECT_LT(json["share"], 1.0);
}

TEST(BenchAttendCommand, GivesALineForEachShapeWithFieldsThatAgree) {
  const Outcome outcome = run(bench_attend(
      {"--kv",
       "bf16",
       "--kv",
       "q8/t3",
       "--heads",
       "4:2",
       "--dim",
       "64",
       "--rows",
       "1",
       "--rows",
       "3",
       "--prefill",
       "70",
       "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<Json> decode, prefill;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    Json json = Json::parse(line);
    (json["what"] == "decode" ? decode : prefill).push_back(json);
  }
  ASSERT_EQ(decode.size(), 4u); // codecs x rows
  ASSERT_EQ(prefill.size(), 2u);
  for (const Json& json : decode) {
    expect_decode_agrees(json);
  }
  for (const Json& json : prefill) {
    expect_prefill_agrees(json);
  }
}

TEST(BenchAttendCommand, PrintsATable) {
  const Outcome outcome = run(bench_attend(
      {"--kv",
       "t4",
       "--heads",
       "8:1",
       "--dim",
       "128",
       "--rows",
       "2",
       "--prefill",
       "0"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 threads, 320 positions\ndecode"));
  EXPECT_THAT(outcome.out, HasSubstr(" 8:1  128     2  t4 "));
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("prefill")));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3);
}

TEST(BenchAttendCommand, MeasuresEachPathOfThisProcessor) {
  for (const char* path : {"plain", "avx2", "avx512", "amx"}) {
    const Outcome outcome = run(bench_attend(
        {"--kernels",
         path,
         "--kv",
         "bf16",
         "--heads",
         "2:1",
         "--dim",
         "64",
         "--rows",
         "1",
         "--prefill",
         "33",
         "--json"}));
    if (outcome.code == 2) { // this processor lacks it
      EXPECT_THAT(outcome.err, HasSubstr(path));
      EXPECT_STRNE(path, "plain");
      continue;
    }
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(
        outcome.out, HasSubstr("\"kernels\":\"" + std::string(path) + "\""));
  }
}

TEST(BenchAttendCommand, RefusesACodecThatDoesNotFitNamingOneThatDoes) {
  const Outcome outcome = run(bench_attend({"--kv", "q4", "--dim", "32"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("q4g32"));
  EXPECT_EQ(outcome.out, "");
}

TEST(BenchAttendCommand, EndsAfterTheRunningTurnWhenItIsInterrupted) {
  std::vector<std::string> arguments = {"bench", "attend", "--json"};
  for (const char* word :
       {"--threads",
        "1",
        "--positions",
        "64",
        "--heads",
        "2:1",
        "--dim",
        "64",
        "--rows",
        "1",
        "--time",
        "50"}) {
    arguments.emplace_back(word);
  }
  for (int i = 0; i < 200; ++i) { // 20 s, far more than it is left to run
    arguments.insert(arguments.end(), {"--kv", "bf16"});
  }
  Program program(arguments);
  const auto printed = [&] { return read_file(program.out_path()); };
  while (printed().empty() && kill(program.pid(), 0) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  kill(program.pid(), SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.err, "");
  std::istringstream lines(outcome.out); // each whole
  int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(Json::parse(line)["what"], "decode");
  }
  EXPECT_GE(count, 1);
}

} // namespace
} // namespace holdfast::test
