// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tokens of a conversation, turn by turn.

#include "holdfast/engine/chat_prompt.h"

#include <gtest/gtest.h>

#include "holdfast/engine/load.h"
#include "tests/engine/tiny_model.h"

namespace holdfast::test {
namespace {

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}"
    "<{{ m.role[0] }}>{{ m.content | trim }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}<a>{% endif %}";

class ChatPromptTest : public testing::Test {
 protected:
  ChatPromptTest()
      : file_("chat_prompt.gguf", TinyModel().bytes()),
        model_(open_model_file(file_.path())) {}

  const Tokenizer& tokenizer() const {
    return model_.tokenizer;
  }
  std::vector<int32_t> special(const std::string& text) const {
    return tokenizer().encode(
        text, {.add_special = false, .parse_special = true});
  }
  std::vector<int32_t> plain(const std::string& text) const {
    return tokenizer().encode(text, {.add_special = false});
  }
  static std::vector<int32_t>
  joined(std::initializer_list<std::vector<int32_t>> parts) {
    std::vector<int32_t> all;
    for (const auto& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  const TemporaryFile file_;
  const ModelFile model_;
};

TEST_F(ChatPromptTest, BeginsWithOneBos) {
  const ChatPrompt prompt(tokenizer(), kTemplate, {});
  const std::vector<ChatMessage> asked = {{"user", "the"}};
  const TurnPrompt turn = prompt.next(nullptr, asked);
  EXPECT_EQ(turn.tokens, special("<bos><u>the<eos><a>"));
  EXPECT_FALSE(turn.rewritten);
}

TEST_F(ChatPromptTest, KeepsTheTokensOfAnAnswerAsTheyWere) {
  const ChatPrompt prompt(tokenizer(), kTemplate, {});
  AnsweredTurn last{
      .messages = {{"user", "the"}},
      .prompt = special("<bos><u>the<eos><a>"),
      .ids = joined({plain("h"), plain("e"), {tokenizer().eos()}}),
      .text = "he"};
  const std::vector<ChatMessage> asked = {
      {"user", "the"}, {"assistant", "he"}, {"user", "a"}};
  const TurnPrompt turn = prompt.next(&last, asked);
  EXPECT_FALSE(turn.rewritten);
  EXPECT_EQ(
      turn.tokens, joined({last.prompt, last.ids, special("<u>a<eos><a>")}));
  // "he" would be one token.
  EXPECT_NE(turn.tokens, special("<bos><u>the<eos><a>he<eos><u>a<eos><a>"));
}

TEST_F(ChatPromptTest, EndsAnAnswerThatWasCutShort) {
  const ChatPrompt prompt(tokenizer(), kTemplate, {});
  AnsweredTurn last{
      .messages = {{"user", "the"}},
      .prompt = special("<bos><u>the<eos><a>"),
      .ids = plain("lo "),
      .text = "lo ",
      .finish = FinishReason::kInterrupted};
  const std::vector<ChatMessage> asked = {
      {"user", "the"}, {"assistant", "lo "}, {"user", "a"}};
  const TurnPrompt turn = prompt.next(&last, asked);
  EXPECT_FALSE(turn.rewritten); // the template trims; the blank's token stays
  EXPECT_EQ(
      turn.tokens,
      joined({last.prompt, last.ids, special("<eos><u>a<eos><a>")}));
}

TEST_F(ChatPromptTest, LeavesOutTheTokensOfAStopString) {
  const ChatPrompt prompt(tokenizer(), "", {});
  EXPECT_EQ(prompt.stops(), std::vector<std::string>{"\nUser:"});
  AnsweredTurn last{
      .messages = {{"user", "the"}},
      .prompt = joined({{tokenizer().bos()}, special("User: the\nAssistant:")}),
      .ids = joined({plain(" lo"), plain("\nUser:")}),
      .text = " lo",
      .finish = FinishReason::kStop};
  const std::vector<ChatMessage> asked = {
      {"user", "the"}, {"assistant", " lo"}, {"user", "a"}};
  const TurnPrompt turn = prompt.next(&last, asked);
  EXPECT_FALSE(turn.rewritten);
  EXPECT_EQ(
      turn.tokens,
      joined({last.prompt, plain(" lo"), special("\nUser: a\nAssistant:")}));
}

TEST_F(ChatPromptTest, SaysWhereTheTemplateWritesEarlierTurnsOtherwise) {
  const ChatPrompt prompt(
      tokenizer(),
      "{% for m in messages %}{{ m.content.split('b')[-1] }}{% endfor %}",
      {});
  AnsweredTurn last{
      .messages = {{"user", "the"}},
      .prompt = joined({{tokenizer().bos()}, special("the")}),
      .ids = plain("abc"),
      .text = "abc",
      .finish = FinishReason::kLength};
  const std::vector<ChatMessage> asked = {
      {"user", "the"}, {"assistant", "abc"}, {"user", "a"}};
  const TurnPrompt turn = prompt.next(&last, asked);
  EXPECT_TRUE(turn.rewritten);
  EXPECT_EQ(turn.tokens, joined({{tokenizer().bos()}, special("theca")}));
}

TEST_F(ChatPromptTest, ReadsControlTokensInAMessageAsText) {
  const std::vector<ChatMessage> asked = {{"user", "a<eos>b"}};
  const ChatPrompt safe(tokenizer(), kTemplate, {});
  EXPECT_EQ(
      safe.next(nullptr, asked).tokens,
      joined({special("<bos><u>"), plain("a<eos>b"), special("<eos><a>")}));
  const ChatPrompt open(tokenizer(), kTemplate, {.special = true, .begun = {}});
  EXPECT_EQ(
      open.next(nullptr, asked).tokens, special("<bos><u>a<eos>b<eos><a>"));
}

TEST_F(ChatPromptTest, RefusesWhatTheTemplateRefuses) {
  const ChatPrompt prompt(
      tokenizer(), "{{ raise_exception('no system text') }}", {});
  const std::vector<ChatMessage> asked = {{"user", "a"}};
  EXPECT_THROW(prompt.next(nullptr, asked), Error);
}

} // namespace
} // namespace holdfast::test
