// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/chat_history.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace holdfast {
namespace {

using Json = nlohmann::ordered_json;

ChatHistory::Answer answer_of(std::vector<int32_t> ids, std::string text) {
  return {.text = std::move(text), .ids = std::move(ids)};
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

/// json() says no question.
ChatHistory answered_tree() {
  ChatHistory history = small_tree();
  history.pending.reset();
  return history;
}

TEST(ChatHistory, ComesBackFromItsJsonAndTheRecordsTokens) {
  ChatHistory history = answered_tree();
  for (const int64_t turn : {2, 1, 0, -1}) {
    history.go_to(turn);
    EXPECT_EQ(
        ChatHistory::parse(history.json(), history.stored_tokens()).value(),
        history);
  }
}

TEST(ChatHistory, SaysNoTokenAgainThatTheRecordHas) {
  ChatHistory history = answered_tree();
  history.go_to(1);
  EXPECT_EQ(history.stored_tokens(), (std::vector<int32_t>{1, 2, 3, 4, 5}));
  const Json turns = Json::parse(history.json())["turns"];
  EXPECT_EQ(turns[0]["tokens"], Json::array());
  EXPECT_EQ(turns[1]["tokens"], Json::array({6})); // it has no state yet
  EXPECT_EQ(turns[2]["tokens"], Json::array({9, 7}));
  // A later turn that shares less leaves an earlier one's tokens to say.
  history.go_to(2);
  EXPECT_EQ(
      Json::parse(history.json())["turns"][0]["tokens"], Json::array({2, 3}));
}

TEST(ChatHistory, ReadsTheFirstVersion) {
  const Json first = Json::parse(R"({"version": 1, "vocabulary": "v",
      "system": "", "seed": 18446744073709551615, "begun": 1, "current": 2,
      "turns": [
        {"parent": -1, "system": "", "user": "a", "answer": "b", "shared": 0,
         "prompt": [1, 2], "ids": [3], "finish": "eos"},
        {"parent": 0, "system": "", "user": "c", "answer": "d", "shared": 3,
         "prompt": [4], "ids": [5, 6], "finish": "eos"},
        {"parent": 0, "system": "s", "user": "e", "answer": "f", "shared": 1,
         "prompt": [9], "ids": [7], "finish": "eos"}],
      "pending": {"system": "s", "user": "g"}})");
  EXPECT_EQ(ChatHistory::parse(first.dump(), {}).value(), small_tree());
  Json wrong = first;
  wrong["pending"]["user"] = 1;
  EXPECT_EQ(
      ChatHistory::parse(wrong.dump(), {}).status().code(),
      ErrorCode::kCorrupt);
  wrong = first;
  wrong["turns"][1]["ids"] = Json::array({5, -6});
  EXPECT_EQ(
      ChatHistory::parse(wrong.dump(), {}).status().code(),
      ErrorCode::kCorrupt);
}

TEST(ChatHistory, RefusesWhatContradictsItselfFieldByField) {
  const ChatHistory history = answered_tree();
  const std::vector<int32_t> stored = history.stored_tokens();
  const auto changed = [&](const char* path, const Json& value) {
    Json json = Json::parse(history.json());
    json[Json::json_pointer(path)] = value;
    return ChatHistory::parse(json.dump(), stored).status().code();
  };
  EXPECT_EQ(changed("/version", 3), ErrorCode::kUnsupported);
  EXPECT_EQ(changed("/version", 0), ErrorCode::kUnsupported);
  const Json none = nullptr;
  const std::vector<std::pair<const char*, std::vector<Json>>> wrong = {
      {"/version", {"2", 2.5}},
      {"/vocabulary", {1, none}},
      {"/system", {1, none}},
      {"/seed", {-1, 1.5, "1"}},
      {"/begun", {"1", 1.5}},
      {"/current", {3, -2, 1.5, "0"}},
      {"/turns", {none, 1, "x", Json::object()}},
      {"/turns/1", {none, 1, Json::array()}},
      {"/turns/1/parent", {1, -2, "0"}},
      {"/turns/1/system", {1}},
      {"/turns/1/user", {1, none}},
      {"/turns/1/answer", {1, none}},
      {"/turns/1/shared", {4, -1, "0"}},
      {"/turns/1/prompt", {4, -1, Json::array()}},
      {"/turns/1/stored", {-1, 3, "0"}},
      {"/turns/1/tokens", {"x", 1, Json::array({-1}), Json::array({1.5})}},
      {"/turns/1/finish", {"x", 1}}};
  for (const auto& [path, values] : wrong) {
    for (const Json& value : values) {
      EXPECT_EQ(changed(path, value), ErrorCode::kCorrupt) << path << value;
    }
    Json json = Json::parse(history.json());
    const Json::json_pointer at(path);
    if (json[at.parent_pointer()].is_object()) {
      json[at.parent_pointer()].erase(at.back());
      EXPECT_EQ(
          ChatHistory::parse(json.dump(), stored).status().code(),
          ErrorCode::kCorrupt)
          << path << " is missing";
    }
  }
  // A record with fewer tokens than the history says it has.
  EXPECT_EQ(
      ChatHistory::parse(history.json(), {}).status().code(),
      ErrorCode::kCorrupt);
  EXPECT_EQ(ChatHistory::parse("{", {}).status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(
      ChatHistory::parse(history.json() + '\0' + "x", stored).status().code(),
      ErrorCode::kCorrupt);
  EXPECT_THROW(small_tree().go_to(3), Error);
}

TEST(ChatHistory, KnowsWhetherItsTokensAreOfAVocabulary) {
  EXPECT_TRUE(small_tree().fits(10));
  EXPECT_FALSE(small_tree().fits(9));
}

TEST(ChatHistory, NamesAllTextsOfItsBranches) {
  using Texts = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(
      small_tree().texts(),
      (Texts{
          {1, 2},
          {1, 2, 3},
          {1, 2, 3, 4},
          {1, 2, 3, 4, 5, 6},
          {1, 9},
          {1, 9, 7}}));
  EXPECT_EQ(small_tree().branches(), (Texts{{1, 2, 3, 4, 5, 6}, {1, 9, 7}}));
}

// As text, and as what a record holds.
TEST(ChatHistory, RefusesNestingAndSizesThatNoHistoryHas) {
  const std::string deep(1000, '[');
  EXPECT_EQ(ChatHistory::parse(deep, {}).status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(
      ChatHistory::parse(R"({"turns": [{"tokens": [[1]]}]})", {})
          .status()
          .text(),
      "[chat] expected lists of turns and tokens, got another");
  const std::string json = answered_tree().json();
  const std::string packed = ChatHistory::packed(json);
  EXPECT_EQ(ChatHistory::unpacked(packed).value(), json);
  for (size_t i = 0; i < packed.size(); ++i) {
    EXPECT_EQ(
        ChatHistory::unpacked(packed.substr(0, i)).status().code(),
        ErrorCode::kCorrupt)
        << i;
  }
  std::string huge = packed;
  huge[4] = '\x01'; // 4 GiB and some
  EXPECT_EQ(ChatHistory::unpacked(huge).status().code(), ErrorCode::kCorrupt);
}

} // namespace
} // namespace holdfast
