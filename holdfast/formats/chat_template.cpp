// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/chat_template.h"

#include <utility>

#include "holdfast/formats/utf8.h"

namespace holdfast {

namespace {

using jinja::Value;

bool is_text(const Value& value) {
  switch (value.kind()) {
    case jinja::Kind::kText:
      return is_utf8(value.text());
    case jinja::Kind::kSequence:
      for (const Value& item : value.seq().items) {
        if (!is_text(item)) {
          return false;
        }
      }
      return true;
    case jinja::Kind::kDict:
      for (const auto& [key, item] : value.dict().items) {
        if (!is_text(key) || !is_text(item)) {
          return false;
        }
      }
      return true;
    default:
      return true;
  }
}

Status not_text(const std::string& what) {
  return {
      ErrorCode::kInvalidArgument,
      "[template] expected UTF-8, got other bytes in " + what};
}

} // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  if (!is_utf8(source)) {
    return Status(
        ErrorCode::kCorrupt, "[template] expected UTF-8, got other bytes");
  }
  try {
    return ChatTemplate(jinja::parse(source));
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Result<std::string> ChatTemplate::render(
    const jinja::Variables& variables,
    const std::tm& now,
    const jinja::Limits& limits) const {
  for (const auto& [name, value] : variables) {
    if (!is_text(value)) {
      return not_text("'" + name + "'");
    }
  }
  jinja::Render render(body_, variables, now, limits);
  try {
    return render.run();
  } catch (const Error& error) {
    return Status(
        error.code(),
        "[template] line " + std::to_string(render.line()) + ": " +
            error.what());
  }
}

Result<std::string>
ChatTemplate::render(const ChatInputs& inputs, const std::tm& now) const {
  std::vector<Value> messages;
  for (const ChatMessage& message : inputs.messages) {
    messages.push_back(
        Value::dict({{"role", message.role}, {"content", message.content}}));
  }
  return render(
      {{"messages", Value::list(std::move(messages))},
       {"add_generation_prompt", inputs.add_generation_prompt},
       {"tools", Value()},
       {"documents", Value()},
       {"bos_token", inputs.bos_token},
       {"eos_token", inputs.eos_token}},
      now);
}

} // namespace holdfast
