// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a chat writes, and what is read of it.

#include "apps/holdfast/chat_record.h"

#include <random>

#include <gtest/gtest.h>

namespace holdfast::app {
namespace {

/// A chat of so many turns with 250 tokens and 1000 letters each.
ChatHistory long_chat(int turns) {
  std::mt19937 random(1);
  ChatHistory history;
  history.vocabulary = std::string(64, 'v');
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<int32_t> prompt = history.tokens(history.current());
    ChatHistory::Answer answer;
    for (int i = 0; i < 250; ++i) {
      const auto id = static_cast<int32_t>(random() % 250'000);
      (i < 50 ? prompt : answer.ids).push_back(id);
      answer.text += " w" + std::to_string(random() % 100);
    }
    history.add({"", answer.text.substr(0, 200)}, prompt, answer);
  }
  return history;
}

size_t history_bytes(const ChatHistory& history) {
  RecordBody body;
  set_history(body, history);
  return body.encode().size();
}

TEST(ChatRecord, OfALongChatIsLittleBesideTheStateOfATurn) {
  // 250 tokens of the smallest model that is tried, in the smallest precision
  // that is usual: 18 layers of 2 x 256 values, 4.5 bits each.
  constexpr size_t kTurnState = size_t{250} * 18 * 512 * 9 / 16;
  EXPECT_LT(history_bytes(long_chat(130)), kTurnState / 20);
  ChatHistory asked = long_chat(130);
  asked.pending = {"", std::string(200, 'q')};
  RecordBody question;
  set_question(question, asked);
  EXPECT_LT(question.encode().size(), 500u);
}

TEST(ChatRecord, ComesBack) {
  ChatHistory history = long_chat(3);
  RecordBody body;
  set_history(body, history);
  EXPECT_EQ(history_of(body, history.stored_tokens()).value(), history);
  history.pending = {"s", "what?"};
  RecordBody question;
  set_question(question, history);
  EXPECT_EQ(question_of(question, history).value(), history.pending);
  history.go_to(1); // the question is not below this turn
  EXPECT_EQ(question_of(question, history).value(), std::nullopt);
}

TEST(ChatRecord, AsksNoQuestionOfAnotherChatThatHadItsName) {
  ChatHistory history = long_chat(3);
  history.pending = {"", "what?"};
  RecordBody question;
  set_question(question, history);
  ChatHistory other = long_chat(2);
  other.add({"", "else"}, other.tokens(other.current()), {"no", {1}});
  ASSERT_EQ(other.turns().size(), history.turns().size());
  ASSERT_EQ(other.current(), history.current());
  EXPECT_EQ(question_of(question, other).value(), std::nullopt);
  // One of before they said which chat they are of.
  question.set(
      "question",
      {.version = 1,
       .bytes = R"({"turn": 3, "parent": 2, "system": "", "user": "what?"})"});
  EXPECT_EQ(question_of(question, other).value(), history.pending);
}

TEST(ChatRecord, ReadsPlainHistoriesAndRefusesDamagedOnes) {
  const ChatHistory history = long_chat(2);
  const auto tokens = history.stored_tokens();
  RecordBody body;
  const auto code = [&](uint32_t version, std::string bytes) {
    body.set("history", {.version = version, .bytes = std::move(bytes)});
    return history_of(body, tokens).status().code();
  };
  EXPECT_EQ(history_of(body, tokens).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(code(1, history.json()), ErrorCode::kOk);
  EXPECT_EQ(code(3, history.json()), ErrorCode::kUnsupported);
  set_history(body, history);
  const std::string packed = body.find("history")->bytes;
  EXPECT_EQ(code(2, packed), ErrorCode::kOk);
  EXPECT_EQ(code(2, ""), ErrorCode::kCorrupt);
  EXPECT_EQ(code(2, packed.substr(0, packed.size() - 1)), ErrorCode::kCorrupt);
  std::string size = packed;
  size[0] = static_cast<char>(size[0] ^ 1);
  EXPECT_EQ(code(2, size), ErrorCode::kCorrupt);
  size[7] = '\x7f'; // more than any chat has
  EXPECT_EQ(code(2, size), ErrorCode::kCorrupt);
  RecordBody question;
  question.set("question", {.version = 2, .bytes = "{}"});
  EXPECT_EQ(
      question_of(question, history).status().code(), ErrorCode::kUnsupported);
  question.set("question", {.version = 1, .bytes = "{}"});
  EXPECT_EQ(
      question_of(question, history).status().code(), ErrorCode::kCorrupt);
}

TEST(ChatRecord, KnowsTheKeysOfItsAnswers) {
  EXPECT_TRUE(is_answer_key(answer_key("a", 12), "a"));
  EXPECT_TRUE(is_of_chats(answer_key("a", 12)));
  EXPECT_FALSE(is_of_chats("report"));
  EXPECT_FALSE(is_answer_key(answer_key("a", 12), "b"));
  EXPECT_FALSE(is_answer_key(answer_key("a/1", 2), "a"));
  EXPECT_FALSE(is_answer_key("chat/a/", "a"));
  EXPECT_FALSE(is_answer_key("chat/a/x", "a"));
}

} // namespace
} // namespace holdfast::app
