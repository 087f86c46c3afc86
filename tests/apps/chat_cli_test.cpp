// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chats as a person has them: through pipes and a terminal, killed and gone on
// with.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/chat_fixture.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

TEST_F(Chat, AnswersEachLineAndBeginsWithTheStateOfTheLastTurn) {
  const auto turns =
      objects(arguments({"--seed", "5"}, "none"), "hello\nthe hello\n");
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0]["turn"], 0);
  EXPECT_EQ(turns[0]["reused_tokens"], 0);
  EXPECT_EQ(turns[1]["parent"], 0);
  EXPECT_EQ(turns[1]["rewritten"], false);
  // All that was fed for the first turn: its prompt, and its answer but the
  // last token.
  EXPECT_GE(
      turns[1]["reused_tokens"].get<int>(),
      turns[0]["prompt_tokens"].get<int>() +
          turns[0]["generated_tokens"].get<int>() - 1);
}

TEST_F(Chat, SaysOnceThatTheModelHasNoTemplate) {
  const Outcome outcome = run(arguments({}, "none"), "hello\nthe\n/history\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const size_t first = outcome.err.find("no chat template");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(outcome.err.find("no chat template", first + 1), std::string::npos);
  EXPECT_THAT(outcome.out, HasSubstr("user: hello\n"));
}

TEST_F(Chat, ReadsMessagesOfSeveralLines) {
  const auto turns = objects(
      arguments({"--seed", "5"}, "none"),
      "one\\\ntwo\n\"\"\"\nthree\n\nfour\n\"\"\"\n//five\n");
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(turns[0]["user"], "one\ntwo");
  EXPECT_EQ(turns[1]["user"], "three\n\nfour");
  EXPECT_EQ(turns[2]["user"], "/five");
}

TEST_F(Chat, GoesOnAfterItsEndWithTheSameAnswers) {
  const auto whole =
      objects(arguments({"--seed", "5"}, "none"), "hello\nthe\nhello the\n");
  objects(kept({"--seed", "5"}), "hello\nthe\n");
  const auto rest = objects(kept({"--continue"}), "hello the\n/history\n");
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0]["ids"], whole[2]["ids"]);
  EXPECT_EQ(rest[0]["turn"], 2);
  EXPECT_GT(rest[0]["reused_from_disk"], 0);
  EXPECT_EQ(rest[0]["durable"], true);
  EXPECT_THAT(
      rest[1]["text"].get<std::string>(), HasSubstr("user: hello the\n"));
}

TEST_F(Chat, LosesNoTurnWhereItIsKilledBetweenTurns) {
  const auto whole =
      objects(arguments({"--seed", "5"}, "none"), "hello\nthe\n");
  {
    Talk talk(kept({"--seed", "5", "--json"}));
    talk.say("hello");
    EXPECT_EQ(Json::parse(talk.line())["ids"], whole[0]["ids"]);
    talk.kill_hard();
  }
  const auto rest = objects(kept({"--continue"}), "the\n");
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0]["turn"], 1);
  EXPECT_EQ(rest[0]["ids"], whole[1]["ids"]);
}

TEST_F(Chat, EndsAnAnswerThatWasKilledAsItWouldHaveEnded) {
  const std::vector<std::string> much = {"-n", "90", "--seed", "5"};
  const auto whole = objects(arguments(much, "none"), "hello\nthe\n");
  for (int round = 0; round < 3; ++round) {
    const std::string name = "round" + std::to_string(round);
    {
      auto named = much;
      named.insert(named.end(), {"--name", name});
      Talk talk(kept(named));
      talk.say("hello");
      if (round > 0) {
        talk.wait_for_text();
        usleep(static_cast<useconds_t>(round) * 30'000);
      } else {
        EXPECT_TRUE(talk.complains_of("chat round0"));
        usleep(20'000);
      }
      talk.kill_hard();
    }
    auto go_on = much;
    go_on.insert(go_on.end(), {"--continue", name, "--json"});
    const Outcome rest = run(kept(go_on), "the\n");
    if (rest.code == 2) { // killed before its question was kept
      EXPECT_EQ(round, 0) << rest.err;
      continue;
    }
    EXPECT_EQ(rest.code, 0) << rest.err;
    const auto answers = json_lines(rest.out);
    ASSERT_GE(answers.size(), 1u);
    if (answers.size() == 1 && answers[0]["turn"] == 0) {
      EXPECT_EQ(round, 0); // between the chat and its question
      continue;
    }
    EXPECT_EQ(answers.back()["ids"], whole[1]["ids"]);
    // The one that was killed, where it had not ended.
    EXPECT_EQ(answers.size() == 2, answers.front()["turn"] == 0);
    if (answers.size() == 2) {
      EXPECT_EQ(answers[0]["ids"], whole[0]["ids"]);
    }
  }
}

TEST_F(Chat, KeepsBranchesOfATree) {
  const auto said = objects(
      kept({"--seed", "5", "--name", "a"}),
      "hello\nthe\n/undo\nhello the\n/tree\n/goto 1\n/history\n/why\n");
  ASSERT_EQ(said.size(), 8u);
  EXPECT_EQ(said[3]["turn"], 2);
  EXPECT_EQ(said[3]["parent"], 0);
  EXPECT_EQ(said[4]["text"], "  0: hello\n    1: the\n*   2: hello the\n");
  EXPECT_THAT(said[6]["text"].get<std::string>(), HasSubstr("user: the\n"));
  EXPECT_THAT(said[7]["text"].get<std::string>(), HasSubstr("reused "));
}

TEST_F(Chat, ForksIntoAChatOfItsOwn) {
  objects(kept({"--seed", "5", "--name", "a"}), "hello\n/fork b\nthe\n");
  const auto a = objects(kept({"--continue", "a"}), "/history\n/load b\n");
  EXPECT_THAT(
      a[0]["text"].get<std::string>(), testing::Not(HasSubstr("user: the\n")));
  EXPECT_THAT(a[1]["text"].get<std::string>(), HasSubstr("user: the\n"));
}

TEST_F(Chat, IsOpenInOneProcessAtATime) {
  {
    Talk one(kept({"--name", "a", "--json"}));
    EXPECT_TRUE(one.complains_of("chat a"));
    for (const char* option : {"--continue", "--name"}) {
      const Outcome other = run(kept({option, "a"}), "the\n");
      EXPECT_EQ(other.code, 2) << option;
      EXPECT_THAT(other.err, HasSubstr("no other process has open"));
      EXPECT_EQ(other.out, "");
    }
    one.say("hello");
    EXPECT_EQ(Json::parse(one.line())["durable"], true);
    const Outcome inside = run(kept({"--name", "b"}), "/load a\nthe\n");
    EXPECT_EQ(inside.code, 1);
    EXPECT_THAT(inside.err, HasSubstr("no other process has open"));
    one.say("/save c");
    one.line();
    // The first one is free now, with its turn; b went on by itself.
    EXPECT_EQ(objects(kept({"--continue", "a"}), "the\n")[0]["turn"], 1);
    EXPECT_EQ(objects(kept({"--continue", "b"}), "the\n")[0]["turn"], 1);
    one.kill_hard();
  }
  EXPECT_EQ(objects(kept({"--continue", "c"}), "the\n")[0]["turn"], 1);
}

// A turn writes its tokens' state and a tail, whatever came before.
TEST_F(Chat, WritesNoMoreForATurnOfALongChat) {
  std::string much;
  for (int turn = 0; turn < 40; ++turn) {
    much += "hello the hello the\n/undo\n";
  }
  const auto written = [&] {
    return state({"stats"}).at(0)["written_total"].get<int64_t>();
  };
  objects(kept({"--name", "a"}), "hello\n");
  const int64_t first = written();
  objects(kept({"--continue", "a"}), "the\n");
  const int64_t of_short = written() - first;
  objects(kept({"--continue", "a"}), much);
  const int64_t before = written();
  objects(kept({"--continue", "a"}), "the\n");
  // The manifest is larger, and with it what a commit writes of it.
  EXPECT_LE(written() - before, of_short + of_short / 4);
}

TEST_F(Chat, RefusesToSaveWhereNoFolderIsKept) {
  const Outcome outcome = run(arguments({}, "none"), "hello\n/save x\n");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/save: expected a folder of state"));
}

TEST_F(Chat, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(run(arguments({"--continue"}, "none"), "").code, 2);
  EXPECT_EQ(run(kept({"--continue"}), "").code, 2); // none is kept
  EXPECT_EQ(run(kept({"--name", "a b"}), "").code, 2);
  EXPECT_EQ(run(kept({"--continue", "a", "--name", "b"}), "").code, 2);
}

TEST_F(Chat, EndsTheAnswerAtCtrlCAndTheChatAtTheSecondOne) {
  Talk talk(arguments({"-n", "200"}, "none"), Talk::Input::kTerminal);
  EXPECT_TRUE(talk.complains_of("> "));
  talk.say("hello");
  talk.wait_for_text();
  talk.key(3);
  talk.line(); // the answer's end
  talk.say("/history");
  EXPECT_THAT(talk.line(), HasSubstr("user: hello"));
  talk.key(3);
  EXPECT_TRUE(talk.complains_of("Ctrl-C again"));
  talk.key(3);
  EXPECT_EQ(talk.wait(), 0);
}

TEST_F(Chat, EndsAtCtrlD) {
  Talk talk(arguments({}, "none"), Talk::Input::kTerminal);
  EXPECT_TRUE(talk.complains_of("> "));
  talk.key(4);
  EXPECT_EQ(talk.wait(), 0);
}

} // namespace
} // namespace holdfast::test
