// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "record_texts.h"

#include <utility>

#include "chat_record.h"
#include "holdfast/engine/resumable_run.h"
#include "holdfast/tier/record_body.h"

namespace holdfast::app {

namespace {

void add_chat(
    const RecordBody& body,
    const std::vector<int32_t>& tokens,
    RecordTexts& texts) {
  if (auto json = history_json(body); json.ok()) {
    texts.bytes.push_back(std::move(json).value());
  }
  const auto history = history_of(body, tokens);
  if (!history.ok()) {
    return;
  }
  for (auto& text : history.value().texts()) {
    texts.tokens.push_back(std::move(text));
  }
  for (auto& branch : history.value().branches()) {
    texts.longest.push_back(std::move(branch));
  }
}

void add_generation(const RecordBody& body, RecordTexts& texts) {
  const auto point = ResumableRun::point_of(body);
  if (!point.ok()) {
    return;
  }
  for (const ResumeRow& row : point.value().rows) {
    std::vector<int32_t> text = row.prompt;
    texts.tokens.push_back(text);
    text.insert(text.end(), row.ids.begin(), row.ids.end());
    texts.tokens.push_back(text);
    texts.longest.push_back(std::move(text));
    texts.bytes.push_back(row.text);
  }
}

} // namespace

RecordTexts texts_of(const RecordText& record) {
  RecordTexts texts;
  if (!record.tokens.empty()) {
    texts.tokens.push_back(record.tokens);
    texts.longest.push_back(record.tokens);
  }
  const auto body = RecordBody::parse(record.body);
  if (!body.ok()) { // of another form: all of it
    texts.bytes.push_back(record.body);
    return texts;
  }
  const std::string& space = record.record.name.space;
  for (const auto& [name, part] : body.value().parts()) {
    // The model's name is kept where its digest is, and an answer's options,
    // in a part of the run's own, name what the scope does.
    if (name != "model" &&
        (space != kGenerationSpace || !name.starts_with('.'))) {
      texts.bytes.push_back(part.bytes);
    }
  }
  if (space == kChatSpace) {
    add_chat(body.value(), record.tokens, texts);
  } else if (space == kGenerationSpace) {
    add_generation(body.value(), texts);
  }
  return texts;
}

Result<RecordTexts> texts_of(DiskTier& tier, const RecordName& name) {
  Result<RecordText> text = tier.record_text(name);
  const bool damaged = text.status().code() == ErrorCode::kCorrupt;
  if (damaged) {
    text = tier.record_tokens(name);
  }
  if (!text.ok()) {
    return text.status();
  }
  RecordTexts texts = texts_of(text.value());
  texts.whole =
      !damaged || (name.space != kChatSpace && name.space != kGenerationSpace);
  return texts;
}

std::vector<RecordName>
related_records(DiskTier& tier, const RecordName& chat) {
  std::vector<RecordName> related;
  if (chat.space != kChatSpace) {
    return related;
  }
  const auto records = tier.records();
  for (const StoredRecord& record : records.value()) {
    const RecordName& name = record.name;
    if (name == question_record_name(chat.name) ||
        (name.space == kGenerationSpace &&
         is_answer_key(name.name, chat.name))) {
      related.push_back(name);
    }
  }
  return related;
}

} // namespace holdfast::app
