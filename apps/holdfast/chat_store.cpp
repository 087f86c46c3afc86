// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_store.h"

#include <chrono>
#include <utility>

#include "console.h"
#include "errors.h"
#include "holdfast/prefix/text_facts.h"

namespace holdfast::app {

namespace {

constexpr std::string_view kSpace = "chat";
constexpr std::string_view kPart = "history";
constexpr uint32_t kPartVersion = 1;
/// How long a turn waits for the disk before it says that it did not answer.
constexpr std::chrono::seconds kPatience{10};

RecordName record_name(const std::string& name) {
  return {.space = std::string(kSpace), .name = name};
}

} // namespace

bool ChatStore::store(const std::string& name, const ChatHistory& history) {
  const auto known = cache_.record(record_name(name));
  const auto mine = versions_.find(name);
  if (known.ok() &&
      (mine == versions_.end() ||
       known.value().facts.version != mine->second)) {
    throw Error(
        ErrorCode::kStale,
        "[chat] expected to be alone with the chat \"" + name +
            "\", got one that another process stored meanwhile");
  }
  NamedRecord record{.name = record_name(name)};
  record.body.set(kPart, {.version = kPartVersion, .bytes = history.json()});
  const auto& turns = history.turns();
  set_facts(
      record.body,
      {.model = model_,
       .line = first_line(
           turns.empty() ? (history.pending ? history.pending->user : "")
                         : turns.front().user),
       .made_ns = cache_.clock().wall_ns()});
  cache_.put({history.tokens(history.current())}, std::move(record));
  const FlushReport report =
      cache_.flush({.until = cache_.clock().now() + kPatience, .last = false});
  if (const auto stored = cache_.record(record_name(name)); stored.ok()) {
    versions_[name] = stored.value().facts.version;
  }
  if (!report.durable && !std::exchange(complained_, true)) {
    complain("the chat is not on disk yet: " + report.text());
  }
  complained_ = complained_ && !report.durable;
  return report.durable;
}

ChatHistory ChatStore::load(const std::string& name) {
  const auto known = cache_.record(record_name(name));
  if (!known.ok()) {
    throw UserError(
        known.status().code() == ErrorCode::kNotFound
            ? "expected a chat that was kept, got \"" + name + '"'
            : known.status().text());
  }
  const RecordBody::Part* part = known.value().body.find(kPart);
  if (part == nullptr || part->version != kPartVersion) {
    throw UserError(
        "chat \"" + name + "\": expected a history of version 1, got none");
  }
  const auto history = ChatHistory::parse(part->bytes);
  if (!history.ok()) {
    throw UserError("chat \"" + name + "\": " + history.status().text());
  }
  versions_[name] = known.value().facts.version;
  return history.value();
}

bool ChatStore::has(const std::string& name) {
  return cache_.record(record_name(name)).ok();
}

std::optional<std::string> ChatStore::newest() {
  const std::vector<RecordFacts> records = cache_.records(kSpace).value();
  std::optional<std::string> name;
  int64_t at = 0;
  for (const RecordFacts& facts : records) {
    if (!name || facts.stored_ns >= at) {
      name = facts.name.name;
      at = facts.stored_ns;
    }
  }
  return name;
}

std::vector<std::string> ChatStore::names() {
  const std::vector<RecordFacts> records = cache_.records(kSpace).value();
  std::vector<std::string> names;
  for (const RecordFacts& facts : records) {
    names.push_back(facts.name.name);
  }
  return names;
}

} // namespace holdfast::app
