// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model's chat template: Jinja in the subset of docs/templates.md, set up as
// the transformers library does it. What it renders is jinja2's text byte for
// byte; what jinja2 would not render, or is not read here, is an error. A
// template cannot reach anything but its variables and ends within its limits.
// Threads: const from any thread.

#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_allowance.h"
#include "holdfast/formats/jinja_render.h"
#include "holdfast/formats/jinja_syntax.h"

namespace holdfast {

struct ChatMessage {
  std::string role; // "system", "user", "assistant"
  std::string content;

  bool operator==(const ChatMessage&) const = default;
};

/// What templates expect to be told.
struct ChatInputs {
  std::vector<ChatMessage> messages;
  bool add_generation_prompt = false; // end with the head of an answer
  std::string bos_token;
  std::string eos_token;
};

/// The metadata key of a GGUF file that holds its template.
inline constexpr const char* kTemplateKey = "tokenizer.chat_template";

class ChatTemplate {
 public:
  /// kCorrupt where jinja2 finds a syntax error, kUnsupported for what is not
  /// read here; "[template] line N: expected ..., got ...".
  static Result<ChatTemplate> parse(std::string_view source);

  /// kInvalidArgument where the template refuses the conversation or python
  /// would raise, kUnsupported as above, kOutOfBudget where a limit ends it.
  /// now: the time that it may tell.
  Result<std::string> render(
      const jinja::Variables& variables,
      const std::tm& now,
      const jinja::Limits& limits = {}) const;
  Result<std::string>
  render(const ChatInputs& inputs, const std::tm& now) const;

 private:
  explicit ChatTemplate(jinja::Body body) : body_(std::move(body)) {}
  jinja::Body body_;
};

} // namespace holdfast
