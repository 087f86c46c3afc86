// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat's turns as a tree: each has a parent, one is current, a new one is put
// below it. A turn keeps its tokens as they were computed, as what it shares
// with its parent and its own. As JSON it is the body of a record
// (docs/cli.md); what is read there is checked. One thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/engine/chat_prompt.h"
#include "holdfast/engine/generation.h"

namespace holdfast::app {

inline constexpr int64_t kNoTurn = -1;

struct ChatTurn {
  int64_t parent = kNoTurn;
  std::string system; // what held when it was asked; empty: none
  std::string user;
  std::string answer;
  int64_t shared = 0; // leading tokens of the parent's sequence
  std::vector<int32_t> prompt; // tokens behind those, before the answer
  std::vector<int32_t> ids; // the answer's
  FinishReason finish = FinishReason::kEos;

  bool operator==(const ChatTurn&) const = default;
};

class ChatHistory {
 public:
  /// A question that has no answer yet.
  struct Pending {
    std::string system;
    std::string user;
    bool operator==(const Pending&) const = default;
  };

  std::string vocabulary; // digest of the tokenizer that the tokens are of
  std::string system; // for the next question
  uint64_t seed = 0;
  int64_t begun = 0; // seconds since 1970
  std::optional<Pending> pending; // below the current turn

  const std::vector<ChatTurn>& turns() const {
    return turns_;
  }
  int64_t current() const {
    return current_;
  }
  /// Throws kInvalidArgument where there is no such turn; kNoTurn: before all.
  void go_to(int64_t turn);

  /// From the first turn to this one.
  std::vector<int64_t> path(int64_t turn) const;
  /// The tokens of a turn: its prompt, and with its answer.
  std::vector<int32_t> prompt_tokens(int64_t turn) const;
  std::vector<int32_t> tokens(int64_t turn) const;
  /// The messages up to the turn's question, or up to its answer.
  std::vector<ChatMessage> messages(int64_t turn, bool answered) const;
  /// The current turn as what the next one goes on from; nothing before all.
  std::optional<AnsweredTurn> last() const;
  /// Those of the path to the current turn, and a new question.
  std::vector<ChatMessage> asked(const Pending& question) const;

  /// Below the current turn; it becomes that. prompt: all tokens before the
  /// answer. The pending question is answered.
  void
  add(const Pending& question,
      std::span<const int32_t> prompt,
      const Generation& answer);

  std::string json() const;
  /// kCorrupt for what json() does not give; kUnsupported for a later version.
  static Result<ChatHistory> parse(const std::string& json);

  bool operator==(const ChatHistory&) const = default;

 private:
  std::vector<ChatTurn> turns_;
  int64_t current_ = kNoTurn;
};

} // namespace holdfast::app
