// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chats that are forgotten: with every branch, and what was cut off.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/chat_fixture.h"
#include "tests/apps/kept_folder.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class ForgottenChat : public Chat {
 protected:
  /// Forgets a chat, and expects that the proof holds.
  Json forget(const std::string& name) const {
    const Json gone = state({"forget", "chat/" + name}).at(0);
    EXPECT_EQ(gone["clean"], true) << gone.dump();
    EXPECT_EQ(gone["found"], 0);
    EXPECT_GT(gone["runs"], 2);
    return gone;
  }
  void expect_nothing_left() const {
    const Json stats = state({"stats"}).at(0);
    EXPECT_EQ(stats["records"], 0);
    EXPECT_EQ(stats["nodes"], 0);
    EXPECT_EQ(stats["live"], 0);
  }
};

TEST_F(ForgottenChat, LeavesNoBranchThatWasUndone) {
  objects(kept({"-n", "40", "--name", "a"}), "hello\nthe\n/undo\nhello the\n");
  EXPECT_GT(state({"stats"}).at(0)["nodes"], 2);
  forget("a");
  expect_nothing_left();
}

TEST_F(ForgottenChat, LeavesNoBranchThatItWentAwayFrom) {
  objects(
      kept({"-n", "40", "--name", "a"}),
      "hello\nthe\n/undo\nhello the\n/goto 1\nthe the\n/goto 0\n");
  forget("a");
  expect_nothing_left();
}

TEST_F(ForgottenChat, LeavesNothingOfAnAnswerThatWasKilled) {
  bool interrupted = false;
  for (int round = 1; round <= 20 && !interrupted; ++round) {
    {
      Talk talk(kept(
          {"-n",
           "180",
           "--name",
           "a",
           "--checkpoint-tokens",
           "4",
           "--checkpoint-seconds",
           "0.001"}));
      talk.say("hello the hello the hello the");
      talk.wait_for_text();
      usleep(static_cast<useconds_t>(round) * 10'000);
      talk.kill_hard();
    }
    for (const Json& record : state({"ls"})) {
      interrupted = interrupted || record["space"] == "generation";
    }
    const Json gone = forget("a");
    EXPECT_GE(gone["records"].size(), interrupted ? 3u : 1u);
    expect_nothing_left();
  }
  EXPECT_TRUE(interrupted) << "no answer was killed after a checkpoint";
}

TEST_F(ForgottenChat, LeavesAnAnswerThatWasBegunAnewNowhere) {
  for (int round = 1; round <= 5; ++round) {
    {
      Talk talk(kept({"-n", "150", "--name", "a", "--checkpoint-tokens", "4"}));
      talk.say("hello");
      talk.wait_for_text();
      usleep(static_cast<useconds_t>(round) * 20'000);
      talk.kill_hard();
    }
    // Other options: what was generated is nobody's.
    run(kept({"-n", "80", "--continue", "a", "--top-k", "3"}), "");
    forget("a");
    expect_nothing_left();
  }
}

TEST_F(ForgottenChat, SharesItsBeginningWithAForkThatStaysWhole) {
  const std::vector<std::string> much = {"-n", "40", "--seed", "5"};
  const std::string said = "hello\nthe\n/undo\n";
  const auto whole =
      objects(arguments(much, "none"), said + "the the\nhello\n");
  auto named = much;
  named.insert(named.end(), {"--name", "a"});
  objects(kept(named), said + "/fork b\nthe the\n/load a\nhello the\n");
  forget("a");
  auto go_on = much;
  go_on.insert(go_on.end(), {"--continue", "b"});
  const auto rest = objects(kept(go_on), "hello\n");
  EXPECT_EQ(rest[0]["ids"], whole.back()["ids"]);
  EXPECT_GE(
      rest[0]["reused_from_disk"].get<int>(),
      whole[3]["prompt_tokens"].get<int>());
  // The branch that was undone is b's too.
  const auto branch = objects(kept(go_on), "/goto 1\nhello\n");
  EXPECT_GE(
      branch[1]["reused_from_disk"].get<int>(),
      whole[1]["prompt_tokens"].get<int>());
  forget("b");
  expect_nothing_left();
}

TEST_F(ForgottenChat, CutsABlockInWhichAShorterChatEnds) {
  objects(
      kept({"-n", "6", "--name", "a", "--seed", "5"}),
      "hello\n/fork b\nthe\nthe hello\n");
  const Json gone = forget("b");
  EXPECT_GE(gone["shortened"], 0);
  EXPECT_TRUE(gone["rests"].empty());
  EXPECT_EQ(objects(kept({"--continue", "a"}), "the\n").size(), 1u);
  forget("a");
  expect_nothing_left();
}

// Its body alone knew of the branch that was left.
TEST_F(ForgottenChat, ThatIsDamagedSaysThatOtherBranchesMayStay) {
  objects(kept({"-n", "40", "--name", "a"}), "hello\nthe\n/undo\nhello the\n");
  damage_body(folder_, {"chat", "a"});
  const Outcome outcome =
      run({"state", "forget", "chat/a", "--json", "--state", folder_});
  EXPECT_EQ(outcome.code, 1);
  const Json gone = json_lines(outcome.out).at(0);
  EXPECT_EQ(gone["clean"], false);
  EXPECT_EQ(gone["damaged"], Json::array({"chat/a"}));
  EXPECT_EQ(gone["found"], 0);
  EXPECT_THAT(outcome.err, HasSubstr("--all"));
  EXPECT_EQ(state({"stats"}).at(0)["records"], 0);
  EXPECT_EQ(state({"forget", "--all"}).at(0)["clean"], true);
  expect_nothing_left();
}

TEST_F(ForgottenChat, IsRefusedWhileAProcessHasItOpen) {
  Talk talk(kept({"--name", "a", "--json"}));
  talk.say("hello");
  talk.line();
  const Outcome refused =
      run({"state", "forget", "chat/a", "--state", folder_});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.one_line_of_error()) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("in use"));
  talk.end_input();
  EXPECT_EQ(talk.wait(), 0);
  forget("a");
  expect_nothing_left();
}

} // namespace
} // namespace holdfast::test
