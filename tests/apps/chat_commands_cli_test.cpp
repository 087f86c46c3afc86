// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Commands of a chat, its system text, its end by a signal, and chats that go
// to another folder.

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/chat_fixture.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

TEST_F(Chat, SavesUnderAnotherNameAndLeavesTheFirstAsItWas) {
  const auto said =
      objects(kept({"--seed", "5", "--name", "a"}), "hello\n/save b\nthe\n");
  EXPECT_EQ(said[1]["text"], "kept as b");
  EXPECT_EQ(said[2]["chat"], "b");
  EXPECT_EQ(
      objects(kept({"--continue", "a"}), "/tree\n")[0]["text"], "* 0: hello\n");
  EXPECT_EQ(
      objects(kept({"--continue", "b"}), "/tree\n")[0]["text"],
      "  0: hello\n* 1: the\n");
  const Outcome taken = run(kept({"--continue", "a"}), "/save b\nhello\n");
  EXPECT_EQ(taken.code, 1);
  EXPECT_THAT(taken.err, HasSubstr("got that of a chat which is kept"));
}

TEST_F(Chat, TellsTheModelTheSystemTextFirst) {
  const auto plain = objects(arguments({"--seed", "5"}, "none"), "hello\n");
  const auto told = objects(
      arguments({"--seed", "5", "--system", "the the"}, "none"),
      "hello\n/system\n/system -\n/system hello\n/history\n");
  EXPECT_GT(told[0]["prompt_tokens"], plain[0]["prompt_tokens"]);
  EXPECT_EQ(told[1]["text"], "the the");
  EXPECT_EQ(told[2]["text"], "no system text");
  EXPECT_EQ(told[3]["text"], "hello");
  EXPECT_THAT(
      told[4]["text"].get<std::string>(), HasSubstr("system: the the\n"));
  // By the command, from the next question on: as by the option.
  const auto later =
      objects(arguments({"--seed", "5"}, "none"), "/system the the\nhello\n");
  EXPECT_EQ(later[1]["ids"], told[0]["ids"]);
}

TEST_F(Chat, RefusesTurnsThatThereAreNotAndGoesOn) {
  const Outcome outcome = run(
      arguments({"--json"}, "none"),
      "hello\n/goto 7\n/goto x\n/goto\n/goto -2\n/nothing\nthe\n/goto -1\n");
  EXPECT_EQ(outcome.code, 1);
  const auto said = json_lines(outcome.out);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[1]["turn"], 1);
  EXPECT_EQ(said[2]["text"], "nothing was said yet\n");
  EXPECT_THAT(outcome.err, HasSubstr("expected a turn that there is, got 7"));
  EXPECT_THAT(outcome.err, HasSubstr("expected a command that there is"));
}

TEST_F(Chat, HelpListsEveryCommand) {
  const auto said = objects(arguments({}, "none"), "/help\n");
  for (const char* verb :
       {"/help",
        "/history",
        "/tree",
        "/undo",
        "/goto N",
        "/fork [NAME]",
        "/save NAME",
        "/load [NAME]",
        "/system [TEXT]",
        "/why",
        "/quit"}) {
    EXPECT_THAT(said[0]["text"].get<std::string>(), HasSubstr(verb));
  }
}

TEST_F(Chat, AnswersAQuestionThatWaitedWhenItIsLoaded) {
  for (int round = 1; round <= 20; ++round) {
    const std::string name = "round" + std::to_string(round);
    {
      Talk talk(kept({"--name", name, "-n", "150"}));
      talk.say("hello");
      talk.wait_for_text();
      talk.kill_hard();
    }
    const auto said = objects(
        kept({"--name", "other" + name}), "/load " + name + "\n/tree\n");
    if (said.size() == 2) {
      continue; // it had been answered
    }
    EXPECT_EQ(said[1]["user"], "hello");
    EXPECT_EQ(said[1]["chat"], name);
    EXPECT_EQ(said[2]["text"], "* 0: hello\n");
    return;
  }
  FAIL() << "no chat was killed before its answer had ended";
}

TEST_F(Chat, EndsWith143WhereItIsTerminated) {
  {
    Talk talk(kept({"--name", "a", "-n", "200"}));
    talk.say("hello");
    talk.wait_for_text();
    talk.send(SIGTERM);
    EXPECT_EQ(talk.wait(), 143);
  }
  {
    Talk talk(kept({"--continue", "a"}), Talk::Input::kTerminal);
    EXPECT_TRUE(talk.complains_of("chat a, 1 turns")); // as far as it came
    EXPECT_TRUE(talk.complains_of("> "));
    talk.send(SIGTERM);
    EXPECT_EQ(talk.wait(), 143);
  }
}

TEST_F(Chat, GoesOnInAnotherFolderAfterExportAndImport) {
  const auto whole =
      objects(arguments({"--seed", "5"}, "none"), "hello\nthe\nhello the\n");
  objects(kept({"--seed", "5", "--name", "a"}), "hello\nthe\n");
  const std::string file = folder_ + "/a.holdfast";
  const std::string there = folder_ + "/there";
  ASSERT_EQ(
      run({"state", "export", "chat/a", file, "--state", folder_}).code, 0);
  const Outcome imported =
      run(with_model({"state", "import", file}, {"--state", there}));
  ASSERT_EQ(imported.code, 0) << imported.err;
  const auto rest =
      objects(arguments({"--continue", "a"}, there), "hello the\n/tree\n");
  EXPECT_EQ(rest[0]["ids"], whole[2]["ids"]);
  EXPECT_GE(
      rest[0]["reused_from_disk"].get<int>(),
      whole[1]["prompt_tokens"].get<int>());
  EXPECT_EQ(rest[1]["text"], "  0: hello\n  1: the\n* 2: hello the\n");
}

TEST_F(Chat, SaysWhatAChatTakesWithItsOpenBlock) {
  objects(kept({"--name", "a"}), "hello\n");
  const Json stats = state({"stats"}).at(0);
  const Json listed = state({"ls"}).at(0);
  EXPECT_EQ(listed["space"], "chat");
  EXPECT_GE(listed["bytes"], stats["image_bytes"]);
  EXPECT_EQ(listed["bytes"], listed["own_bytes"]);
}

TEST_F(Chat, IsAsItWasWhereACommandFindsNoRoom) {
  std::mt19937 random(1);
  std::string noise(200'000, ' '); // which no packing makes small
  std::ranges::generate(
      noise, [&] { return static_cast<char>('a' + random() % 26); });
  auto words = kept({"--max-cache-bytes", "60000", "--json"});
  const Outcome outcome =
      run(words, "/system be brief\n/system " + noise + "\n/system\n");
  EXPECT_EQ(outcome.code, 1) << "a command failed";
  const auto said = json_lines(outcome.out);
  ASSERT_FALSE(said.empty()) << outcome.err.substr(0, 1000);
  EXPECT_EQ(said.back()["text"], "be brief");
}

} // namespace
} // namespace holdfast::test
