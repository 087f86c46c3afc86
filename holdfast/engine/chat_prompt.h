// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tokens of a conversation, turn by turn. A turn's tokens are those of the
// last one, its answer's as they were chosen, and those of the text that the
// template puts behind them: what has state is never tokenized again.
//
// Invariant: a turn's tokens begin with the last turn's prompt and answer, or
// `rewritten` says that the template changed what came before.
// Threads: const from any thread.

#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/answered_turn.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// What the next answer begins with.
struct TurnPrompt {
  std::vector<int32_t> tokens;
  bool rewritten = false; // the tokens of earlier turns are others
};

class ChatPrompt {
 public:
  struct Options {
    bool special = false; // control tokens in messages are those tokens
    std::tm begun = {}; // of the conversation: what templates tell
  };

  /// source: the model's template; empty: a plain transcript. The tokenizer
  /// outlives it. Throws what ChatTemplate::parse() says.
  ChatPrompt(
      const Tokenizer& tokenizer,
      const std::string& source,
      const Options& options);

  /// Strings that end an answer.
  const std::vector<std::string>& stops() const {
    return stops_;
  }
  /// The tokens that ask for an answer to `messages`, of which the last is the
  /// user's. last: the turn before it, or null. Throws what the template says
  /// against the conversation.
  TurnPrompt
  next(const AnsweredTurn* last, std::span<const ChatMessage> messages) const;

 private:
  std::string render(std::span<const ChatMessage> messages) const;
  /// Appends the tokens of a text that a template gave. contents: messages in
  /// it, in order, whose control tokens are text.
  void encode(
      std::string_view text,
      std::span<const ChatMessage> contents,
      std::vector<int32_t>& tokens) const;
  void encode_part(
      std::string_view text,
      bool special,
      std::vector<int32_t>& tokens) const;
  /// The text to put behind the answer of `last`, whose tokens are appended;
  /// rest: the rendered text from the answer on. Nothing where that does not
  /// begin with the answer.
  std::optional<std::string> go_on(
      const AnsweredTurn& last,
      std::string_view rest,
      std::vector<int32_t>& tokens) const;
  bool holds_control_tokens(std::string_view text) const;

  const Tokenizer& tokenizer_;
  const Options options_;
  ChatTemplate template_;
  std::vector<std::string> stops_;
};

} // namespace holdfast
