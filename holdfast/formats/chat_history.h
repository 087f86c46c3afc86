// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat's turns as a tree: each has a parent, one is current, a new one is put
// below it. A turn keeps its tokens as they were computed, as what it shares
// with its parent and its own. As JSON it goes with a record (docs/cli.md),
// whose tokens it does not say again; what is read there is checked, and takes
// memory in proportion to it. One thread.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/answered_turn.h"

namespace holdfast {

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
  struct Answer {
    std::string text;
    std::vector<int32_t> ids; // an end token included
    FinishReason finish = FinishReason::kEos;
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
      const Answer& answer);

  /// The tokens of the record that the history goes with: those of the current
  /// turn whose state there is, so all but the last one.
  std::vector<int32_t> stored_tokens() const;
  /// All tokens that were ever asked or answered with, from the first on: of
  /// each turn the prompt, and with its answer.
  std::vector<std::vector<int32_t>> texts() const;
  /// Of these, those that no other begins with.
  std::vector<std::vector<int32_t>> branches() const;
  /// False where a token is none of the vocabulary's.
  bool fits(int32_t vocabulary_size) const;

  /// Without the stored tokens, and without the question that waits.
  std::string json() const;
  /// stored: the record's tokens. kCorrupt for what json() does not give;
  /// kUnsupported for a later version.
  static Result<ChatHistory>
  parse(const std::string& json, std::span<const int32_t> stored);

  /// JSON as a record has it: its size (u64), and a frame of zstd; and back,
  /// kCorrupt for anything else.
  static std::string packed(const std::string& json);
  static Result<std::string> unpacked(std::string_view bytes);

  bool operator==(const ChatHistory&) const = default;

 private:
  std::vector<ChatTurn> turns_;
  int64_t current_ = kNoTurn;
};

} // namespace holdfast
