// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat that is killed at points all over its course, and gone on with: at its
// end it is the chat that nothing happened to.

#include <chrono>

#include <gtest/gtest.h>

#include "tests/apps/chat_fixture.h"

namespace holdfast::test {
namespace {

const std::vector<std::string> kLines = {"hello", "the", "hello the"};

class KilledChat : public Chat {
 protected:
  std::vector<std::string> chat(std::vector<std::string> rest) const {
    rest.insert(rest.begin(), {"-n", "40", "--seed", "5"});
    return kept(rest);
  }
  /// What it says to `input`, an object a line; nothing where there is no such
  /// chat.
  std::vector<Json>
  say(const std::string& which, const std::string& name, int64_t from) const {
    std::string input;
    for (size_t i = static_cast<size_t>(from); i < kLines.size(); ++i) {
      input += kLines[i] + "\n";
    }
    const Outcome outcome =
        run(chat({which, name, "--json"}), input + "/history\n");
    if (outcome.code == 2) { // killed before it kept anything
      EXPECT_EQ(which, "--continue");
      return {};
    }
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json_lines(outcome.out);
  }
  static int64_t turns_in(const std::string& history) {
    int64_t turns = 0;
    for (size_t at = history.find("user: "); at != std::string::npos;
         at = history.find("user: ", at + 1)) {
      ++turns;
    }
    return turns;
  }
  /// Goes on, as often as it takes; all of the conversation at its end.
  std::string ended(const std::string& name) const {
    const auto known = say("--continue", name, std::ssize(kLines));
    if (known.empty()) {
      return say("--name", name, 0).back()["text"].get<std::string>();
    }
    const auto history = known.back()["text"].get<std::string>();
    return say("--continue", name, turns_in(history))
        .back()["text"]
        .get<std::string>();
  }
};

TEST_F(KilledChat, AtAnyPointGoesOnToTheSameConversation) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  const auto whole = say("--name", "whole", 0);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      Clock::now() - begun);
  ASSERT_EQ(whole.size(), kLines.size() + 1);
  const auto history = whole.back()["text"].get<std::string>();
  ASSERT_EQ(turns_in(history), std::ssize(kLines));
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const std::string name = "round" + std::to_string(round);
    {
      Talk talk(chat({"--name", name}));
      for (const std::string& line : kLines) {
        talk.say(line);
      }
      usleep(static_cast<useconds_t>((round + 1) * took.count() / kRounds));
      talk.kill_hard();
    }
    EXPECT_EQ(ended(name), history);
  }
}

} // namespace
} // namespace holdfast::test
