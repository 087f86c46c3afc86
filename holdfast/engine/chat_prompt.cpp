// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/chat_prompt.h"

#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast {

namespace {

/// For models without a template.
constexpr const char* kTranscript =
    "{% for m in messages %}"
    "{% if m.role == 'system' %}{{ m.content | trim ~ '\\n\\n' }}"
    "{% elif m.role == 'user' %}{{ 'User: ' ~ m.content | trim ~ '\\n' }}"
    "{% else %}{{ 'Assistant: ' ~ m.content | trim ~ '\\n' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}";
constexpr const char* kTranscriptStop = "\nUser:";

std::string_view trimmed(std::string_view text) {
  return jinja::strip(text, jinja::Side::kBoth);
}

/// The answer's tokens that stand for text before `text` ends, and how much of
/// it they are. A stop string was cut from the text, not from the tokens.
struct KeptIds {
  size_t count = 0;
  size_t bytes = 0;
};

KeptIds kept_ids(const Tokenizer& tokenizer, const AnsweredTurn& last) {
  KeptIds kept;
  if (last.finish != FinishReason::kStop) {
    const bool ended = last.finish == FinishReason::kEos && !last.ids.empty();
    return {last.ids.size() - (ended ? 1 : 0), last.text.size()};
  }
  const TokenId before = last.prompt.empty() ? kNoToken : last.prompt.back();
  std::string bytes;
  for (size_t i = 0; i < last.ids.size(); ++i) {
    const TokenId after = i > 0 ? last.ids[i - 1] : before;
    bytes += tokenizer.decode({&last.ids[i], 1}, {.after = after});
    if (!last.text.starts_with(bytes)) {
      break;
    }
    kept = {i + 1, bytes.size()};
  }
  return kept;
}

} // namespace

ChatPrompt::ChatPrompt(
    const Tokenizer& tokenizer,
    const std::string& source,
    const Options& options)
    : tokenizer_(tokenizer),
      options_(options),
      template_(
          ChatTemplate::parse(source.empty() ? kTranscript : source).value()) {
  if (source.empty()) {
    stops_.emplace_back(kTranscriptStop);
  }
}

std::string ChatPrompt::render(std::span<const ChatMessage> messages) const {
  const auto piece = [&](TokenId id) {
    return id == kNoToken ? std::string() : std::string(tokenizer_.piece(id));
  };
  return template_
      .render(
          {.messages = {messages.begin(), messages.end()},
           .add_generation_prompt = true,
           .bos_token = piece(tokenizer_.bos()),
           .eos_token = piece(tokenizer_.eos())},
          options_.begun)
      .value();
}

// The render of the messages so far, with the head of an answer, must begin the
// render of the next turn; what follows there is the answer and then new text.
// Three things may keep it from that. White space: a template may trim the
// answer, so one without the blanks at its ends is looked for too; the blanks'
// tokens stay. A template may drop what a model thought from earlier turns:
// then the tokens of the whole text are made anew, and the turn says so. And
// the time that a template tells is the conversation's beginning, so it never
// differs.
TurnPrompt ChatPrompt::next(
    const AnsweredTurn* last,
    std::span<const ChatMessage> messages) const {
  const std::string text = render(messages);
  TurnPrompt turn;
  if (last != nullptr) {
    const std::string before = render(last->messages);
    const size_t known = last->messages.size() + 1; // and the answer
    const auto behind = text.starts_with(before) && messages.size() > known
        ? go_on(
              *last, std::string_view(text).substr(before.size()), turn.tokens)
        : std::nullopt;
    if (behind) {
      encode(*behind, messages.subspan(known), turn.tokens);
      return turn;
    }
    turn.rewritten = true;
  }
  const TokenId bos = tokenizer_.bos();
  if (tokenizer_.add_bos() && !text.starts_with(tokenizer_.piece(bos))) {
    turn.tokens.push_back(bos);
  }
  encode(text, messages, turn.tokens);
  return turn;
}

std::optional<std::string> ChatPrompt::go_on(
    const AnsweredTurn& last,
    std::string_view rest,
    std::vector<int32_t>& tokens) const {
  const std::string_view whole = last.text;
  const std::string_view forms[] = {
      whole,
      jinja::strip(whole, jinja::Side::kRight),
      jinja::strip(whole, jinja::Side::kLeft),
      trimmed(whole)};
  for (const std::string_view form : forms) {
    if (!rest.starts_with(form)) {
      // A template may put blanks before an answer that had none.
      const std::string_view bare = jinja::strip(rest, jinja::Side::kLeft);
      if (!bare.starts_with(form)) {
        continue;
      }
      rest = bare;
    }
    rest.remove_prefix(form.size());
    KeptIds kept = kept_ids(tokenizer_, last);
    // What the kept tokens lack of the text is text again.
    std::string behind = last.text.substr(kept.bytes);
    if (kept.count < last.ids.size() && last.finish == FinishReason::kEos) {
      // The end token as the template writes it is the one that was chosen.
      const std::string_view end = tokenizer_.piece(last.ids[kept.count]);
      if (rest.starts_with(end)) {
        rest.remove_prefix(end.size());
        ++kept.count;
      }
    }
    behind += rest;
    tokens = last.prompt;
    tokens.insert(
        tokens.end(),
        last.ids.begin(),
        last.ids.begin() + static_cast<std::ptrdiff_t>(kept.count));
    return behind;
  }
  return std::nullopt;
}

bool ChatPrompt::holds_control_tokens(std::string_view text) const {
  const auto encoded = [&](bool special) {
    return tokenizer_.encode(
        text, {.add_special = false, .parse_special = special});
  };
  return encoded(true) != encoded(false);
}

void ChatPrompt::encode(
    std::string_view text,
    std::span<const ChatMessage> contents,
    std::vector<int32_t>& tokens) const {
  for (const ChatMessage& message : contents) {
    const std::string_view content = trimmed(message.content);
    if (options_.special || !holds_control_tokens(content)) {
      continue; // reads the same either way
    }
    const size_t at = text.find(content);
    if (at == text.npos) {
      throw Error(
          ErrorCode::kUnsupported,
          "[chat] expected a template that keeps a message with control "
          "tokens in it as it is, got one that changes it");
    }
    encode_part(text.substr(0, at), true, tokens);
    encode_part(content, false, tokens);
    text.remove_prefix(at + content.size());
  }
  encode_part(text, true, tokens);
}

void ChatPrompt::encode_part(
    std::string_view text,
    bool special,
    std::vector<int32_t>& tokens) const {
  const TokenId after = tokens.empty() ? kNoToken : tokens.back();
  const auto ids = tokenizer_.encode(
      text, {.add_special = false, .parse_special = special, .after = after});
  tokens.insert(tokens.end(), ids.begin(), ids.end());
}

} // namespace holdfast
