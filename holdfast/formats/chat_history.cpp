// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/chat_history.h"

#include <algorithm>
#include <span>
#include <utility>

namespace holdfast {

void ChatHistory::go_to(int64_t turn) {
  if (turn < kNoTurn || turn >= std::ssize(turns_)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[chat] expected a turn that there is, got " + std::to_string(turn));
  }
  current_ = turn;
}

std::vector<int64_t> ChatHistory::path(int64_t turn) const {
  std::vector<int64_t> result;
  for (; turn != kNoTurn; turn = turns_[static_cast<size_t>(turn)].parent) {
    result.push_back(turn);
  }
  std::ranges::reverse(result);
  return result;
}

std::vector<int32_t> ChatHistory::prompt_tokens(int64_t turn) const {
  std::vector<int32_t> result;
  for (const int64_t at : path(turn)) {
    const ChatTurn& one = turns_[static_cast<size_t>(at)];
    result.resize(static_cast<size_t>(one.shared));
    result.insert(result.end(), one.prompt.begin(), one.prompt.end());
    if (at != turn) {
      result.insert(result.end(), one.ids.begin(), one.ids.end());
    }
  }
  return result;
}

std::vector<int32_t> ChatHistory::tokens(int64_t turn) const {
  std::vector<int32_t> result = prompt_tokens(turn);
  if (turn != kNoTurn) {
    const auto& ids = turns_[static_cast<size_t>(turn)].ids;
    result.insert(result.end(), ids.begin(), ids.end());
  }
  return result;
}

std::vector<ChatMessage>
ChatHistory::messages(int64_t turn, bool answered) const {
  std::vector<ChatMessage> result;
  if (turn == kNoTurn) {
    return result;
  }
  // The last turn's system text holds for all of a conversation's text.
  const std::string& held = turns_[static_cast<size_t>(turn)].system;
  if (!held.empty()) {
    result.push_back({"system", held});
  }
  for (const int64_t at : path(turn)) {
    const ChatTurn& one = turns_[static_cast<size_t>(at)];
    result.push_back({"user", one.user});
    if (at != turn || answered) {
      result.push_back({"assistant", one.answer});
    }
  }
  return result;
}

std::optional<AnsweredTurn> ChatHistory::last() const {
  if (current_ == kNoTurn) {
    return std::nullopt;
  }
  const ChatTurn& turn = turns_[static_cast<size_t>(current_)];
  return AnsweredTurn{
      .messages = messages(current_, false),
      .prompt = prompt_tokens(current_),
      .ids = turn.ids,
      .text = turn.answer,
      .finish = turn.finish};
}

std::vector<ChatMessage> ChatHistory::asked(const Pending& question) const {
  std::vector<ChatMessage> result = messages(current_, true);
  if (!result.empty() && result.front().role == "system") {
    result.erase(result.begin());
  }
  if (!question.system.empty()) {
    result.insert(result.begin(), {"system", question.system});
  }
  result.push_back({"user", question.user});
  return result;
}

void ChatHistory::add(
    const Pending& question,
    std::span<const int32_t> prompt,
    const Answer& answer) {
  const std::vector<int32_t> before = tokens(current_);
  const auto [mine, theirs] = std::ranges::mismatch(prompt, before);
  const auto shared = mine - prompt.begin();
  turns_.push_back(
      {.parent = current_,
       .system = question.system,
       .user = question.user,
       .answer = answer.text,
       .shared = shared,
       .prompt = {mine, prompt.end()},
       .ids = answer.ids,
       .finish = answer.finish});
  current_ = std::ssize(turns_) - 1;
  pending.reset();
}

std::vector<int32_t> ChatHistory::stored_tokens() const {
  std::vector<int32_t> result = tokens(current_);
  if (!result.empty()) {
    result.pop_back();
  }
  return result;
}

std::vector<std::vector<int32_t>> ChatHistory::texts() const {
  std::vector<std::vector<int32_t>> result;
  for (int64_t turn = 0; turn < std::ssize(turns_); ++turn) {
    result.push_back(prompt_tokens(turn));
    result.push_back(tokens(turn));
  }
  return result;
}

std::vector<std::vector<int32_t>> ChatHistory::branches() const {
  std::vector<bool> goes_on(turns_.size());
  for (const ChatTurn& turn : turns_) {
    if (turn.parent != kNoTurn) {
      const auto parent = static_cast<size_t>(turn.parent);
      const ChatTurn& before = turns_[parent];
      goes_on[parent] = goes_on[parent] ||
          turn.shared ==
              before.shared + std::ssize(before.prompt) +
                  std::ssize(before.ids);
    }
  }
  std::vector<std::vector<int32_t>> result;
  for (size_t turn = 0; turn < turns_.size(); ++turn) {
    if (!goes_on[turn]) {
      result.push_back(tokens(static_cast<int64_t>(turn)));
    }
  }
  return result;
}

bool ChatHistory::fits(int32_t vocabulary_size) const {
  const auto known = [&](int32_t id) {
    return id >= 0 && id < vocabulary_size;
  };
  return std::ranges::all_of(turns_, [&](const ChatTurn& turn) {
    return std::ranges::all_of(turn.prompt, known) &&
        std::ranges::all_of(turn.ids, known);
  });
}

} // namespace holdfast
