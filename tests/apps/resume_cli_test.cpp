// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `generate --id` over processes that are killed, interrupted and refused.

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/key_claims.h"
#include "holdfast/tier/record_claims.h"
#include "tests/apps/json_lines.h"
#include "tests/apps/program.h"

namespace holdfast::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

/// A folder of state, gone with it.
class StateFolder {
 public:
  explicit StateFolder(const std::string& name) : path_(scratch(name)) {
    std::filesystem::remove_all(path_);
  }
  ~StateFolder() {
    std::filesystem::remove_all(path_);
  }
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;

  const std::string& path() const {
    return path_;
  }
  /// `generate`, kept in the folder under a key.
  Arguments with(const Arguments& rest, const std::string& id = "k") const {
    Arguments all = rest;
    all.insert(all.end(), {"--state", path_, "--id", id});
    return with_model({"generate"}, all);
  }
  /// Waits until a run has a key.
  bool has_claim() const {
    std::error_code error;
    int64_t names = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(path_ + "/tier/claims", error)) {
      names += entry.path().filename().string().size() == 64;
    }
    return names > 0;
  }

 private:
  const std::string path_;
};

bool await(const std::function<bool()>& condition) {
  for (int i = 0; i < 30000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::vector<Json> objects(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json_lines(outcome.out);
}

/// What an interruption may not change.
Json lasting(const Json& object) {
  Json same;
  for (const char* name :
       {"index",
        "text",
        "prompt_ids",
        "ids",
        "finish_reason",
        "prompt_tokens",
        "generated_tokens",
        "kv",
        "seed",
        "logprobs"}) {
    same[name] = object.at(name);
  }
  return same;
}

std::vector<Json> lasting(const std::vector<Json>& all) {
  std::vector<Json> same;
  for (const Json& object : all) {
    same.push_back(lasting(object));
  }
  return same;
}

const Arguments kShort = {"-p", "a", "-n", "2", "--seed", "5"};
const Arguments kLong = {
    "-p",
    "the hello the hello bcd the quick brown fox and the lazy dog, twice over",
    "-p",
    "hello",
    "-n",
    "150",
    "--ignore-eos",
    "--json",
    "--logprobs",
    "2",
    "--temp",
    "0.9",
    "--repeat-penalty",
    "1.1",
    "--frequency-penalty",
    "0.1",
    "--seed",
    "11",
    "--stop",
    "never to be seen",
    "--chunk",
    "16",
    "--checkpoint-tokens",
    "4"};

using Microseconds = std::chrono::microseconds;

/// Kills the same command at drawn moments, at most so often, then lets it end.
std::vector<Json>
run_with_kills(const StateFolder& folder, int kills, std::mt19937& random) {
  const auto started = std::chrono::steady_clock::now();
  const StateFolder timed("resume_timed");
  EXPECT_EQ(run(timed.with(kLong)).code, 0);
  const auto whole = std::chrono::duration_cast<Microseconds>(
      std::chrono::steady_clock::now() - started);
  for (int i = 0; i < kills; ++i) {
    Program program(folder.with(kLong));
    std::this_thread::sleep_for(
        Microseconds(static_cast<int64_t>(random()) % (whole.count() + 1)));
    kill(program.pid(), SIGKILL);
    program.wait();
  }
  return objects(run(folder.with(kLong)));
}

TEST(ResumeCommand, KilledAtAnyMomentEndsAsThoughNothingHadHappened) {
  const std::vector<Json> expected =
      objects(run(with_model({"generate"}, kLong)));
  std::mt19937 random(std::random_device{}());
  int64_t resumed = 0;
  for (int round = 0; round < 6; ++round) {
    const StateFolder folder("resume_kills");
    const auto results = run_with_kills(folder, 4, random);
    ASSERT_EQ(lasting(results), lasting(expected));
    for (const Json& object : results) {
      resumed += object["resumed_tokens"].get<int64_t>();
    }
    // And what was complete is gone.
    const auto again = objects(run(folder.with(kLong)));
    ASSERT_EQ(lasting(again), lasting(expected));
    EXPECT_EQ(again[0]["resumed_tokens"], 0);
    EXPECT_GT(again[0]["reused_tokens"].get<int64_t>(), 0);
  }
  EXPECT_GT(resumed, 0);
}

TEST(ResumeCommand, InterruptedPrintsTheWholeTextTheSecondTime) {
  const Arguments rest = {
      "-p", "hello the", "-n", "240", "--seed", "5", "--ignore-eos"};
  const std::string expected = run(with_model({"generate"}, rest)).out;
  const StateFolder folder("resume_interrupt");
  Program first(folder.with(rest));
  ASSERT_TRUE(await([&] { return read_file(first.out_path()).size() > 8; }));
  kill(first.pid(), SIGINT);
  const Outcome ended = first.wait();
  ASSERT_EQ(ended.code, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("--id \"k\" is kept"));
  const std::string begun = ended.out.substr(0, ended.out.size() - 1);
  EXPECT_EQ(expected.substr(0, begun.size()), begun);
  const Outcome second = run(folder.with(rest));
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.out, expected);
}

TEST(ResumeCommand, GoesOnWithTheSeedThatWasDrawn) {
  const Arguments rest = {
      "-p",
      "hello the",
      "-n",
      "200",
      "--ignore-eos",
      "--logprobs",
      "0",
      "--json",
      "--checkpoint-tokens",
      "1"};
  const StateFolder folder("resume_seed");
  Program first(folder.with(rest));
  ASSERT_TRUE(await([&] { return folder.has_claim(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(first.pid(), SIGTERM);
  const Outcome ended = first.wait();
  ASSERT_EQ(ended.code, 143) << ended.err;
  std::istringstream lines(ended.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const Json begun = Json::parse(line);
  const auto second = objects(run(folder.with(rest)));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0]["seed"], begun["seed"]);
  EXPECT_EQ(second[0]["resumed_tokens"], begun["ids"].size());
  Arguments whole = rest;
  whole.insert(
      whole.end(),
      {"--seed", std::to_string(second[0]["seed"].get<uint64_t>())});
  EXPECT_EQ(
      lasting(objects(run(with_model({"generate"}, whole)))), lasting(second));
}

// This process is the other one: one that is stopped might hold the folder.
TEST(ResumeCommand, RefusesAKeyThatAnotherProcessRuns) {
  const StateFolder folder("resume_two");
  EXPECT_EQ(run(folder.with(kShort, "another key")).code, 0); // makes it
  KeyClaims claims(posix_file_system(), folder.path() + "/tier/claims");
  const auto claim = claims.claim(record_claim({"generation", "k"})).value();
  const Outcome second = run(folder.with(kShort));
  EXPECT_EQ(second.code, 2);
  EXPECT_TRUE(second.one_line_of_error()) << second.err;
  EXPECT_THAT(second.err, HasSubstr("another run has"));
  const Outcome other = run(folder.with(kShort, "another key"));
  EXPECT_EQ(other.code, 0) << other.err;
}

TEST(ResumeCommand, RefusesOtherOptionsInALineThatNamesOne) {
  const StateFolder folder("resume_options");
  Program first(folder.with(kLong));
  ASSERT_TRUE(await([&] { return folder.has_claim(); }));
  kill(first.pid(), SIGINT);
  ASSERT_EQ(first.wait().code, 130);
  Arguments other = kLong;
  other.insert(other.end(), {"--top-k", "7"});
  const Outcome refused = run(folder.with(other));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.one_line_of_error()) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("top-k: expected 0, got 7"));
  // It is kept: the command that was interrupted still goes on.
  EXPECT_EQ(
      lasting(objects(run(folder.with(kLong)))),
      lasting(objects(run(with_model({"generate"}, kLong)))));
}

TEST(ResumeCommand, NeedsAFolderAndAKeyAndIntervalsInRange) {
  const StateFolder folder("resume_refused");
  const auto refused = [&](const Arguments& rest, const char* text) {
    Arguments all = {"-p", "a", "-n", "2"};
    all.insert(all.end(), rest.begin(), rest.end());
    const Outcome outcome = run(with_model({"generate"}, all));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(outcome.one_line_of_error()) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  const std::string& state = folder.path();
  refused({"--id", "k"}, "--state DIR");
  refused({"--id", "k", "--state", "none"}, "--state DIR");
  refused({"--id", "", "--state", state}, "1 to 1024 bytes");
  refused({"--id", std::string(1025, 'k'), "--state", state}, "got 1025");
  refused({"--id", "k", "--state", state, "--reference"}, "--reference");
  refused({"--id", "chat/trip/3", "--state", state}, "chats' answers");
  refused({"--checkpoint-tokens", "0"}, "--checkpoint-tokens");
  refused({"--checkpoint-seconds", "0"}, "--checkpoint-seconds");
  EXPECT_FALSE(std::filesystem::exists(state));
}

} // namespace
} // namespace holdfast::test
