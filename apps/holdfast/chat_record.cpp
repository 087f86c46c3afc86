// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_record.h"

#include <algorithm>
#include <utility>

#include "holdfast/base/sha256.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/record_claims.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr std::string_view kHistoryPart = "history";
constexpr uint32_t kPlainHistory = 1; // JSON
constexpr uint32_t kPackedHistory = 2; // ChatHistory::packed()
constexpr std::string_view kQuestionPart = "question";
constexpr uint32_t kQuestionVersion = 1;
const std::string kAnswers = "chat/"; // how their keys begin

void add_number(Sha256& digest, uint64_t number) {
  digest.add(std::as_bytes(std::span(&number, 1)));
}

void add_text(Sha256& digest, std::string_view text) {
  add_number(digest, text.size());
  digest.add(std::as_bytes(std::span(text)));
}

/// Of what was said. Tokens that were cut into texts otherwise are the same.
std::string digest_of(const std::vector<ChatTurn>& turns) {
  Sha256 digest;
  for (const ChatTurn& turn : turns) {
    add_number(digest, static_cast<uint64_t>(turn.parent));
    for (const std::string* text : {&turn.system, &turn.user, &turn.answer}) {
      add_text(digest, *text);
    }
  }
  return digest.finish().hex();
}

Status unsupported(std::string_view part, uint32_t version) {
  return Status(
      ErrorCode::kUnsupported,
      "[chat] expected a " + std::string(part) +
          " that this version reads, got version " + std::to_string(version));
}

} // namespace

RecordName chat_record_name(const std::string& name) {
  return {.space = std::string(kChatSpace), .name = name};
}

RecordName question_record_name(const std::string& name) {
  return {.space = std::string(kQuestionSpace), .name = name};
}

std::string answer_key(const std::string& name, size_t turn) {
  return kAnswers + name + "/" + std::to_string(turn);
}

bool is_of_chats(std::string_view key) {
  return key.starts_with(kAnswers);
}

bool is_answer_key(std::string_view key, std::string_view name) {
  const std::string before = kAnswers + std::string(name) + "/";
  return key.starts_with(before) && key.size() > before.size() &&
      std::ranges::all_of(key.substr(before.size()), [](char c) {
           return c >= '0' && c <= '9';
         });
}

std::vector<std::string> chat_claims(const std::string& name) {
  return {
      record_claim(chat_record_name(name)),
      record_claim(question_record_name(name)),
      folder_claim({std::string(kGenerationSpace), kAnswers + name})};
}

void set_history(RecordBody& body, const ChatHistory& history) {
  body.set(
      kHistoryPart,
      {.version = kPackedHistory,
       .bytes = ChatHistory::packed(history.json())});
}

Result<std::string> history_json(const RecordBody& body) {
  const RecordBody::Part* part = body.find(kHistoryPart);
  if (part == nullptr) {
    return Status(
        ErrorCode::kNotFound,
        "[chat] expected a record with a history, got none");
  }
  switch (part->version) {
    case kPlainHistory:
      return part->bytes;
    case kPackedHistory:
      return ChatHistory::unpacked(part->bytes);
    default:
      return unsupported(kHistoryPart, part->version);
  }
}

Result<ChatHistory>
history_of(const RecordBody& body, std::span<const int32_t> tokens) {
  const Result<std::string> json = history_json(body);
  return json.ok() ? ChatHistory::parse(json.value(), tokens)
                   : Result<ChatHistory>(json.status());
}

void set_question(RecordBody& body, const ChatHistory& history) {
  const Json json{
      {"turn", history.turns().size()},
      {"parent", history.current()},
      {"turns", digest_of(history.turns())},
      {"system", history.pending->system},
      {"user", history.pending->user}};
  body.set(kQuestionPart, {.version = kQuestionVersion, .bytes = json.dump()});
}

Result<std::optional<ChatHistory::Pending>>
question_of(const RecordBody& body, const ChatHistory& history) {
  const RecordBody::Part* part = body.find(kQuestionPart);
  if (part == nullptr || part->version != kQuestionVersion) {
    return unsupported(kQuestionPart, part == nullptr ? 0 : part->version);
  }
  try {
    const Json json = Json::parse(part->bytes);
    const std::string mine = digest_of(history.turns());
    if (json.at("turn") != history.turns().size() ||
        json.at("parent") != history.current() ||
        json.value("turns", mine) != mine) { // questions once had no digest
      return std::optional<ChatHistory::Pending>();
    }
    return std::optional(ChatHistory::Pending{
        json.at("system").get<std::string>(),
        json.at("user").get<std::string>()});
  } catch (const Json::exception& error) {
    return Status(
        ErrorCode::kCorrupt,
        std::string("[chat] expected a question, got: ") + error.what());
  }
}

} // namespace holdfast::app
