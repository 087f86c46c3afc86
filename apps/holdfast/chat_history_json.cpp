// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat's history as JSON. Texts are UTF-8.

#include <array>
#include <utility>

#include "chat_history.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr int64_t kVersion = 1;

constexpr std::array kReasons = {
    FinishReason::kEos,
    FinishReason::kStop,
    FinishReason::kLength,
    FinishReason::kContext,
    FinishReason::kInterrupted,
    FinishReason::kFailed};

FinishReason reason_of(const std::string& text) {
  for (const FinishReason reason : kReasons) {
    if (text == name(reason)) {
      return reason;
    }
  }
  throw Error(
      ErrorCode::kCorrupt,
      "[chat] expected a reason that ends answers, got \"" + text + '"');
}

Json turn_json(const ChatTurn& turn) {
  return {
      {"parent", turn.parent},
      {"system", turn.system},
      {"user", turn.user},
      {"answer", turn.answer},
      {"shared", turn.shared},
      {"prompt", turn.prompt},
      {"ids", turn.ids},
      {"finish", name(turn.finish)}};
}

void require(bool holds, const char* what) {
  if (!holds) {
    throw Error(
        ErrorCode::kCorrupt,
        std::string("[chat] expected ") + what + ", got another");
  }
}

ChatTurn turn_of(const Json& json) {
  return {
      .parent = json.at("parent").get<int64_t>(),
      .system = json.at("system").get<std::string>(),
      .user = json.at("user").get<std::string>(),
      .answer = json.at("answer").get<std::string>(),
      .shared = json.at("shared").get<int64_t>(),
      .prompt = json.at("prompt").get<std::vector<int32_t>>(),
      .ids = json.at("ids").get<std::vector<int32_t>>(),
      .finish = reason_of(json.at("finish").get<std::string>())};
}

} // namespace

std::string ChatHistory::json() const {
  Json turns = Json::array();
  for (const ChatTurn& turn : turns_) {
    turns.push_back(turn_json(turn));
  }
  Json all{
      {"version", kVersion},
      {"vocabulary", vocabulary},
      {"system", system},
      {"seed", seed},
      {"begun", begun},
      {"current", current_},
      {"turns", std::move(turns)},
      {"pending", nullptr}};
  if (pending) {
    all["pending"] = Json{{"system", pending->system}, {"user", pending->user}};
  }
  return all.dump();
}

Result<ChatHistory> ChatHistory::parse(const std::string& json) {
  try {
    const Json all = Json::parse(json);
    if (all.at("version").get<int64_t>() != kVersion) {
      return Status(
          ErrorCode::kUnsupported,
          "[chat] expected a history of version 1, got version " +
              all.at("version").dump());
    }
    ChatHistory history;
    history.vocabulary = all.at("vocabulary").get<std::string>();
    history.system = all.at("system").get<std::string>();
    history.seed = all.at("seed").get<uint64_t>();
    history.begun = all.at("begun").get<int64_t>();
    std::vector<int64_t> lengths; // of each turn's sequence
    for (const Json& one : all.at("turns")) {
      ChatTurn turn = turn_of(one);
      require(
          turn.parent >= kNoTurn && turn.parent < std::ssize(lengths),
          "a parent before its turn");
      const int64_t before = turn.parent == kNoTurn
          ? 0
          : lengths[static_cast<size_t>(turn.parent)];
      require(
          turn.shared >= 0 && turn.shared <= before,
          "tokens shared with the parent that it has");
      lengths.push_back(
          turn.shared + std::ssize(turn.prompt) + std::ssize(turn.ids));
      history.turns_.push_back(std::move(turn));
    }
    const int64_t current = all.at("current").get<int64_t>();
    require(
        current >= kNoTurn && current < std::ssize(history.turns_),
        "a current turn that there is");
    history.current_ = current;
    if (const Json& asked = all.at("pending"); !asked.is_null()) {
      history.pending = {
          asked.at("system").get<std::string>(),
          asked.at("user").get<std::string>()};
    }
    return history;
  } catch (const Json::exception& error) {
    return Status(
        ErrorCode::kCorrupt,
        std::string("[chat] expected a history, got: ") + error.what());
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

} // namespace holdfast::app
