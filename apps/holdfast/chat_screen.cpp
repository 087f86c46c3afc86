// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_screen.h"

#include <utility>
#include <vector>

#include "console.h"
#include "generation_json.h"
#include "holdfast/formats/jinja_text.h"
#include "holdfast/prefix/text_facts.h"
#include "json.h"

namespace holdfast::app {

namespace {

Json answer_json(const ChatSession& session, const ChatAnswer& answer) {
  const ChatHistory& history = session.history();
  const ChatTurn& turn =
      history.turns()[static_cast<size_t>(history.current())];
  Json json{
      {"chat", session.name()},
      {"turn", history.current()},
      {"parent", turn.parent},
      {"user", turn.user},
      {"rewritten", answer.rewritten},
      {"durable", answer.durable},
      {"seed", history.seed}};
  add_generation(json, answer.result);
  return json;
}

} // namespace

void ChatScreen::piece(std::string_view text) {
  if (form_ == Form::kJson) {
    return;
  }
  if (!begun_) {
    text = jinja::strip(text, jinja::Side::kLeft);
  }
  if (!text.empty()) {
    begun_ = true;
    ended_ = text.ends_with('\n');
    write_out(text);
  }
}

void ChatScreen::finish(const ChatSession& session, const ChatAnswer& answer) {
  if (form_ == Form::kJson) {
    write_out(json_line(answer_json(session, answer)));
  } else if (!ended_ || !begun_) {
    write_out("\n");
  }
  begun_ = false;
  ended_ = true;
}

void ChatScreen::tell(const std::string& command, const std::string& text) {
  if (form_ == Form::kJson) {
    write_out(json_line(Json{{"command", command}, {"text", text}}));
  } else {
    write_out(text + (text.ends_with('\n') ? "" : "\n"));
  }
}

std::string history_text(const ChatHistory& history) {
  std::string text;
  for (const ChatMessage& message : history.messages(history.current(), true)) {
    text += message.role + ": ";
    text += jinja::strip(message.content, jinja::Side::kBoth);
    text += '\n';
  }
  return text.empty() ? "nothing was said yet\n" : text;
}

std::string tree_text(const ChatHistory& history) {
  const auto& turns = history.turns();
  std::vector<std::vector<size_t>> children(turns.size() + 1);
  for (size_t i = 0; i < turns.size(); ++i) {
    children[static_cast<size_t>(turns[i].parent + 1)].push_back(i);
  }
  // Last in, first out: each turn is followed by those below it.
  std::vector<std::pair<size_t, size_t>> open; // turn, depth
  const auto push = [&](size_t of, size_t depth) {
    for (auto at = children[of].rbegin(); at != children[of].rend(); ++at) {
      open.emplace_back(*at, depth);
    }
  };
  push(0, 0);
  std::string text;
  while (!open.empty()) {
    const auto [turn, depth] = open.back();
    open.pop_back();
    const bool here = static_cast<int64_t>(turn) == history.current();
    text += here ? "* " : "  ";
    // A chat that never branched is one column.
    text += std::string(2 * depth, ' ') + std::to_string(turn) + ": " +
        first_line(turns[turn].user, 60) + '\n';
    push(turn + 1, depth + (children[turn + 1].size() > 1 ? 1 : 0));
  }
  return text.empty() ? "nothing was said yet\n" : text;
}

} // namespace holdfast::app
