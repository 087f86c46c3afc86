// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_store.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "chat_record.h"
#include "console.h"
#include "errors.h"
#include "holdfast/prefix/text_facts.h"
#include "state_claims.h"
#include "state_folder.h"

namespace holdfast::app {

ChatStore::ChatStore(PrefixCache& cache, std::string model)
    : cache_(cache),
      model_(std::move(model)),
      claims_(cache.disk()->claims()) {}

bool ChatStore::try_open(const std::string& name) {
  if (claim_ && name == name_) {
    return true;
  }
  auto claim = claim_keys(claims_, chat_claims(name));
  if (claim.status().code() == ErrorCode::kUnsupported) {
    return false;
  }
  claim_ = std::move(claim).value();
  name_ = name;
  return true;
}

bool ChatStore::try_begin(const std::string& name) {
  Opened former = opened();
  if (!try_open(name)) {
    return false;
  }
  if (has(name)) {
    reopen(std::move(former));
    return false;
  }
  return true;
}

void ChatStore::open(const std::string& name) {
  if (!try_open(name)) {
    throw UserError(
        "chat \"" + name +
        "\": expected one that no other process has open, got one that is open "
        "(end it there, or begin another with --name)");
  }
}

void ChatStore::reopen(Opened former) {
  name_ = std::move(former.name);
  claim_ = std::move(former.claim);
}

NamedRecord ChatStore::record(RecordName name, const std::string& line) const {
  NamedRecord record{.name = std::move(name)};
  set_facts(
      record.body,
      {.model = model_,
       .line = first_line(line),
       .made_ns = cache_.clock().wall_ns()});
  return record;
}

bool ChatStore::flush() {
  const FlushReport report = cache_.flush(
      {.until = cache_.clock().now() + kFlushPatience, .last = false});
  if (!report.durable && !std::exchange(complained_, true)) {
    complain("the chat is not on disk yet: " + report.text());
  }
  complained_ = complained_ && !report.durable;
  return report.durable;
}

bool ChatStore::store(const ChatHistory& history) {
  const auto& turns = history.turns();
  NamedRecord chat =
      record(chat_record_name(name_), turns.empty() ? "" : turns.front().user);
  set_history(chat.body, history);
  cache_.put({history.stored_tokens()}, std::move(chat));
  const bool durable = flush();
  if (durable) {
    // One that stays knows which moment of the chat it was of.
    (void)cache_.remove_record(question_record_name(name_)).ok();
  }
  return durable;
}

bool ChatStore::store_question(const ChatHistory& history) {
  if (history.turns().empty() && !has(name_)) {
    NamedRecord chat = record(chat_record_name(name_), history.pending->user);
    set_history(chat.body, history);
    cache_.put(Path{}, std::move(chat));
  }
  NamedRecord question =
      record(question_record_name(name_), history.pending->user);
  set_question(question.body, history);
  cache_.put(Path{}, std::move(question));
  return flush();
}

void ChatStore::drop_question() {
  cache_.remove_record(question_record_name(name_)).check();
}

ChatHistory ChatStore::load() {
  const auto known = cache_.record(chat_record_name(name_));
  if (!known.ok()) {
    throw UserError(
        known.status().code() == ErrorCode::kNotFound
            ? "expected a chat that was kept, got \"" + name_ + '"'
            : known.status().text());
  }
  auto history = history_of(known.value().body, known.value().tokens);
  if (!history.ok()) {
    throw UserError("chat \"" + name_ + "\": " + history.status().text());
  }
  ChatHistory chat = std::move(history).value();
  const auto waiting = cache_.record(question_record_name(name_));
  if (waiting.ok()) {
    auto question = question_of(waiting.value().body, chat);
    if (!question.ok()) {
      throw UserError("chat \"" + name_ + "\": " + question.status().text());
    }
    if (question.value()) {
      chat.pending = std::move(question).value();
    }
  } else if (waiting.status().code() != ErrorCode::kNotFound) {
    complain(
        "chat \"" + name_ + "\": the question that waited cannot be read: " +
        waiting.status().text());
  }
  return chat;
}

bool ChatStore::has(const std::string& name) {
  // One that cannot be read is there.
  return cache_.record(chat_record_name(name)).status().code() !=
      ErrorCode::kNotFound;
}

bool ChatStore::is_chat(const std::string& name) {
  const auto record = cache_.record(chat_record_name(name));
  return record.ok() ? history_json(record.value().body).status().code() !=
          ErrorCode::kNotFound
                     : record.status().code() != ErrorCode::kNotFound;
}

std::optional<std::string> ChatStore::newest() {
  std::vector<RecordFacts> all;
  for (const std::string_view space : {kChatSpace, kQuestionSpace}) {
    const auto records = cache_.records(space);
    all.insert(all.end(), records.value().begin(), records.value().end());
  }
  std::ranges::stable_sort(all, std::greater(), &RecordFacts::stored_ns);
  // A question may be what is left of its chat, and a record of this space a
  // text that was imported.
  const auto newest = std::ranges::find_if(
      all, [&](const RecordFacts& facts) { return is_chat(facts.name.name); });
  return newest == all.end() ? std::nullopt : std::optional(newest->name.name);
}

std::vector<std::string> ChatStore::names() {
  const auto records = cache_.records(kChatSpace);
  std::vector<std::string> names;
  for (const RecordFacts& facts : records.value()) {
    names.push_back(facts.name.name);
  }
  return names;
}

} // namespace holdfast::app
