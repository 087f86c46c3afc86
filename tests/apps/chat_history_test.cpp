// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "apps/holdfast/chat_history.h"

#include <gtest/gtest.h>

#include "apps/holdfast/chat_input.h"
#include "apps/holdfast/json.h"

namespace holdfast::app {
namespace {

Generation answer_of(std::vector<int32_t> ids, std::string text) {
  Generation answer;
  answer.ids = std::move(ids);
  answer.text = std::move(text);
  answer.finish_reason = FinishReason::kEos;
  return answer;
}

ChatHistory small_tree() {
  ChatHistory history;
  history.vocabulary = "v";
  history.seed = ~uint64_t{0};
  history.begun = 1;
  history.add({"", "a"}, std::vector<int32_t>{1, 2}, answer_of({3}, "b"));
  history.add(
      {"", "c"}, std::vector<int32_t>{1, 2, 3, 4}, answer_of({5, 6}, "d"));
  history.go_to(0);
  history.add({"s", "e"}, std::vector<int32_t>{1, 9}, answer_of({7}, "f"));
  history.pending = {"s", "g"};
  return history;
}

TEST(ChatHistory, KeepsEachTurnsTokensOnce) {
  const ChatHistory history = small_tree();
  EXPECT_EQ(history.turns()[1].shared, 3);
  EXPECT_EQ(history.turns()[1].prompt, std::vector<int32_t>{4});
  EXPECT_EQ(history.tokens(1), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(history.turns()[2].shared, 1);
  EXPECT_EQ(history.prompt_tokens(2), (std::vector<int32_t>{1, 9}));
  EXPECT_EQ(history.tokens(2), (std::vector<int32_t>{1, 9, 7}));
}

TEST(ChatHistory, GivesTheMessagesOfABranch) {
  const ChatHistory history = small_tree();
  const std::vector<ChatMessage> wanted = {
      {"system", "s"},
      {"user", "a"},
      {"assistant", "b"},
      {"user", "e"},
      {"assistant", "f"}};
  EXPECT_EQ(history.messages(2, true), wanted);
  EXPECT_EQ(history.messages(1, false).size(), 3u);
}

TEST(ChatHistory, ComesBackFromItsJson) {
  const ChatHistory history = small_tree();
  EXPECT_EQ(ChatHistory::parse(history.json()).value(), history);
}

TEST(ChatHistory, RefusesWhatContradictsItself) {
  const auto changed = [](const char* path, const Json& value) {
    Json json = Json::parse(small_tree().json());
    json[Json::json_pointer(path)] = value;
    return ChatHistory::parse(json.dump()).status().code();
  };
  EXPECT_EQ(changed("/version", 2), ErrorCode::kUnsupported);
  EXPECT_EQ(changed("/current", 3), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/current", -2), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/turns/1/parent", 1), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/turns/1/parent", -2), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/turns/1/shared", 4), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/turns/1/shared", -1), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/turns/1/finish", "x"), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/turns/1/ids", "x"), ErrorCode::kCorrupt);
  EXPECT_EQ(changed("/pending", 1), ErrorCode::kCorrupt);
  EXPECT_EQ(ChatHistory::parse("{").status().code(), ErrorCode::kCorrupt);
  EXPECT_THROW(small_tree().go_to(3), Error);
}

TEST(ChatInput, DropsABlockThatIsInterrupted) {
  int lines = 0;
  const ChatInput input = read_chat_input([&lines](bool goes_on) {
    EXPECT_EQ(goes_on, lines > 0);
    return ++lines < 3 ? Line{.text = "\"\"\"a"}
                       : Line{.end = LineEnd::kInterrupted};
  });
  EXPECT_EQ(input.end, LineEnd::kInterrupted);
  EXPECT_EQ(input.text, "");
}

} // namespace
} // namespace holdfast::app
