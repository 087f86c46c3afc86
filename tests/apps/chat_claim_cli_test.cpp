// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat that is open, and what other processes do to its folder meanwhile:
// they evict, forget and begin chats of the same name.

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/disk_tier.h"
#include "tests/apps/chat_fixture.h"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OpenChat : public Chat {
 protected:
  /// As another process that wants all the room there is.
  std::unique_ptr<DiskTier> tier() const {
    return DiskTier::open(
               {.folder = folder_ + "/tier",
                .max_bytes = Bytes(std::numeric_limits<int64_t>::max()),
                .files = posix_file_system(),
                .clock = system_clock()})
        .value();
  }
  static std::vector<RecordName> evict_all(DiskTier& tier) {
    return tier.evict(Bytes(int64_t{1} << 40)).value().records;
  }
  static std::vector<RecordName> names(DiskTier& tier) {
    std::vector<RecordName> names;
    for (const StoredRecord& record : tier.records().value()) {
      names.push_back(record.name);
    }
    return names;
  }
  /// Until the first question waits on disk; false where it was answered
  /// before anybody looked.
  static bool asks(Talk& talk, DiskTier& tier) {
    talk.say("hello");
    talk.wait_for_text();
    return std::ranges::count(names(tier), RecordName{"question", "a"}) == 1;
  }
};

TEST_F(OpenChat, LosesNoRecordToEvictionBetweenItsTurns) {
  Talk talk(kept({"--name", "a", "--json"}));
  talk.say("hello");
  ASSERT_NE(talk.line(), "");
  const auto other = tier();
  EXPECT_THAT(evict_all(*other), IsEmpty());
  EXPECT_THAT(names(*other), Contains(RecordName{"chat", "a"}));
  talk.say("the");
  const Json second = Json::parse(talk.line());
  EXPECT_EQ(second["durable"], true) << second.dump();
  EXPECT_GT(second["reused_tokens"], 0);
  talk.end_input();
  EXPECT_EQ(talk.wait(), 0) << talk.errors();
  EXPECT_THAT(evict_all(*other), Contains(RecordName{"chat", "a"}))
      << "once nobody has it open";
}

// Its record stands for no tokens yet, and its question for none at all.
TEST_F(OpenChat, LosesNeitherItsFirstQuestionNorTheAnswerThatRuns) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(folder_);
    Talk talk(kept({"--name", "a", "-n", "180", "--checkpoint-tokens", "1"}));
    ASSERT_TRUE(talk.complains_of("chat a, 0 turns"));
    const auto other = tier();
    if (!asks(talk, *other)) {
      continue; // it was answered before anybody looked
    }
    EXPECT_THAT(evict_all(*other), IsEmpty());
    EXPECT_THAT(names(*other), Contains(RecordName{"chat", "a"}));
    talk.kill_hard();
    const auto said = objects(kept({"--continue", "a"}), "/tree\n");
    ASSERT_EQ(said.size(), 2u) << "the question and its answer are there";
    EXPECT_EQ(said[0]["user"], "hello");
    return;
  }
  FAIL() << "no question was seen before its answer had ended";
}

TEST_F(OpenChat, OfAKilledProcessIsNobodysAndMayGo) {
  {
    Talk talk(kept({"--name", "a", "--json"}));
    talk.say("hello");
    ASSERT_NE(talk.line(), "");
    talk.kill_hard();
  }
  EXPECT_THAT(evict_all(*tier()), Contains(RecordName{"chat", "a"}));
}

TEST_F(OpenChat, IsNotForgottenByAnyNameOfItsRecords) {
  Talk talk(kept({"--name", "a", "--json"}));
  talk.say("hello");
  ASSERT_NE(talk.line(), "");
  for (const char* which : {"chat/a", "--all"}) {
    const Outcome refused = run({"state", "forget", which, "--state", folder_});
    EXPECT_EQ(refused.code, 2) << which;
    EXPECT_TRUE(refused.one_line_of_error()) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("in use"));
  }
  EXPECT_THAT(names(*tier()), Contains(RecordName{"chat", "a"}));
  talk.end_input();
  EXPECT_EQ(talk.wait(), 0) << talk.errors();
  EXPECT_EQ(state({"forget", "--all"}).at(0)["clean"], true);
}

// One that no turn was stored of is known by its claim alone.
TEST_F(OpenChat, KeepsItsNameFromForksAndNewChats) {
  Talk talk(kept({"--name", "a-2"}));
  ASSERT_TRUE(talk.complains_of("chat a-2, 0 turns"));
  const auto said = objects(kept({"--name", "a"}), "hello\n/fork\n/fork\n");
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[1]["text"], "goes on as a-3");
  EXPECT_EQ(said[2]["text"], "goes on as a-3-2");
  const Outcome refused = run(kept({"--name", "a-2"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no other process has open"));
  const auto saved =
      run(kept({"--name", "b", "--json"}), "/save a-2\n/save a\n");
  EXPECT_THAT(saved.err, HasSubstr("that is open"));
  EXPECT_THAT(saved.err, HasSubstr("a chat which is kept: a"));
}

TEST_F(OpenChat, AfterARefusedSaveIsStillItsOwn) {
  objects(kept({"--name", "b"}), "hello\n");
  Talk talk(kept({"--name", "a", "--json"}));
  talk.say("/save b");
  ASSERT_TRUE(talk.complains_of("which is kept: b"));
  const Outcome refused = run(kept({"--name", "a"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no other process has open"));
  EXPECT_EQ(run(kept({"--continue", "b"}), "").code, 0) << "which nobody has";
  talk.say("hello");
  EXPECT_EQ(Json::parse(talk.line())["chat"], "a");
}

} // namespace
} // namespace holdfast::test
