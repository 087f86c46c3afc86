// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The benchmarks of stored state: lookup, restore, persist.

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

double number(const Json& of, const char* field) {
  return of.at(field).get<double>();
}

/// A folder of this test alone, which must be empty when it ends.
class Place {
 public:
  explicit Place(const std::string& name) : path_(scratch(name)) {
    std::filesystem::create_directory(path_);
  }
  ~Place() {
    EXPECT_TRUE(std::filesystem::is_empty(path_)) << path_;
    std::filesystem::remove_all(path_);
  }
  const std::string& path() const {
    return path_;
  }

 private:
  std::string path_;
};

TEST(BenchLookupCommand, GivesALineForEachKindOfPrompt) {
  const Outcome outcome = run(
      {"bench",
       "lookup",
       "--blocks",
       "640",
       "--chat-blocks",
       "20",
       "--matched",
       "0",
       "--matched",
       "7",
       "--matched",
       "20",
       "--time",
       "1",
       "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto lines = lines_of(outcome.out);
  // A prompt that agrees with a whole chat has nothing left to differ in.
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[2]["then"], "ends");
  EXPECT_EQ(lines[3]["then"], "differs");
  for (const Json& line : lines) {
    EXPECT_EQ(line["blocks"], 640 - 30); // two groups of 16 share a block each
    EXPECT_GT(number(line, "median_us"), 0);
    EXPECT_GE(number(line, "p99_us"), number(line, "median_us"));
    EXPECT_EQ(number(line, "allowed_us"), 50 + number(line, "matched"));
    EXPECT_GT(number(line, "index_bytes"), 640 * 64 * 4);
  }
}

TEST(BenchLookupCommand, RefusesWhatNoIndexHas) {
  for (const auto& wrong : std::vector<std::vector<std::string>>{
           {"--blocks", "0"},
           {"--chat-blocks", "0"},
           {"--matched", "513"},
           {"--matched", "x"},
           {"--time", "0"}}) {
    std::vector<std::string> arguments{"bench", "lookup"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << wrong[0];
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(wrong[0])) << outcome.err;
  }
}

TEST(BenchRestoreCommand, RestoresInNewProcessesWhatOneComputed) {
  const Place place("restore");
  const Outcome outcome = run(
      {"bench",
       "restore",
       "-m",
       model_path(),
       "--prompt",
       "200",
       "--kv",
       "bf16",
       "--kv",
       "q8",
       "--repeat",
       "2",
       "--threads",
       "2",
       "--folder",
       place.path(),
       "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["kv"], "bf16");
  EXPECT_EQ(lines[1]["kv"], "q8");
  for (const Json& line : lines) {
    EXPECT_EQ(line["prompt"], 200);
    const Json& computed = line["computed"];
    EXPECT_EQ(computed["reused_tokens"], 0);
    EXPECT_GT(number(computed, "written_bytes"), 0);
    for (const char* way : {"warm", "cold"}) {
      const Json& restored = line[way];
      EXPECT_EQ(restored["reused_tokens"], 199);
      EXPECT_EQ(restored["reused_from_disk"], 199);
      EXPECT_EQ(restored["token"], computed["token"]);
      EXPECT_GT(number(restored, "state_bytes"), 0);
      EXPECT_NEAR(
          number(restored, "first_token_s"),
          number(restored, "open_s") + number(restored, "begin_s") +
              number(restored, "compute_s"),
          1e-9);
    }
    EXPECT_NEAR(
        number(line, "warm_share"),
        number(line["warm"], "first_token_s") /
            number(computed, "first_token_s"),
        1e-9);
    EXPECT_GT(number(line, "disk_gb_s"), 0);
    EXPECT_NEAR(
        number(line, "cold_disk_share"),
        number(line["cold"], "begin_gb_s") / number(line, "disk_gb_s"),
        1e-9);
  }
}

TEST(BenchRestoreCommand, RefusesWhatItCannotMeasure) {
  const auto code = [](const std::vector<std::string>& rest) {
    std::vector<std::string> arguments{
        "bench", "restore", "-m", model_path(), "--prompt", "70"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const Outcome outcome = run(arguments);
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    return outcome.code;
  };
  EXPECT_EQ(code({"--kv", "q9"}), 2);
  EXPECT_EQ(code({"--prompt", "1"}), 2);
  EXPECT_EQ(code({"--repeat", "0"}), 2);
  EXPECT_EQ(code({"--folder", "/nowhere/at/all"}), 2);
}

TEST(BenchPersistCommand, CountsWhatATurnAndAFlushWrite) {
  const Place place("persist");
  const Outcome outcome = run(
      {"bench",
       "persist",
       "-m",
       model_path(),
       "--depth",
       "70",
       "--gen",
       "64",
       "--turns",
       "2",
       "--flush-bytes",
       "3000000",
       "--threads",
       "2",
       "--folder",
       place.path(),
       "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  const Json& decode = lines[0];
  EXPECT_EQ(decode["what"], "decode");
  EXPECT_EQ(decode["gen"], 64);
  EXPECT_GT(number(decode, "plain_tok_s"), 0);
  EXPECT_LE(number(decode, "cost_low"), number(decode, "cost"));
  EXPECT_GE(number(decode, "cost_high"), number(decode, "cost"));
  EXPECT_GT(number(decode, "kept_tok_s"), 0);
  // One block became full, and one is open: what a turn may write, and pages
  // around it.
  const double allowed =
      number(decode, "state_bytes") + number(decode, "tail_bytes");
  EXPECT_NEAR(
      number(decode, "turn_share"),
      number(decode, "turn_bytes") / allowed,
      1e-9);
  EXPECT_GE(number(decode, "turn_bytes"), allowed * 0.9);
  const Json& flush = lines[1];
  EXPECT_EQ(flush["what"], "flush");
  EXPECT_GE(number(flush, "bytes"), 3e6);
  EXPECT_NEAR(
      number(flush, "gb_s"),
      number(flush, "bytes") / number(flush, "seconds") / 1e9,
      1e-9);
  EXPECT_NEAR(
      number(flush, "share"),
      number(flush, "gb_s") / number(flush, "disk_gb_s"),
      1e-9);
}

TEST(BenchPersistCommand, PrintsOnlyWhatWasAskedFor) {
  const Place place("persist_flush");
  const Outcome outcome = run(
      {"bench",
       "persist",
       "-m",
       model_path(),
       "--turns",
       "0",
       "--flush-bytes",
       "1000000",
       "--folder",
       place.path()});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("flush "));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
}

} // namespace
} // namespace holdfast::test
