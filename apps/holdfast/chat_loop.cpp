// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_loop.h"

#include <cstdio>

#include <unistd.h>

#include "console.h"
#include "errors.h"
#include "options.h"

namespace holdfast::app {

namespace {

constexpr const char* kHelp =
    "/help           this list\n"
    "/history        what was said up to here\n"
    "/tree           all turns, with their numbers\n"
    "/undo           go back to before the last question; its turn stays in "
    "the tree\n"
    "/goto N         go to turn N of the tree\n"
    "/fork [NAME]    go on in a copy of the chat; this one stays as it is\n"
    "/save NAME      keep the chat under this name too, and go on there\n"
    "/load [NAME]    go to another chat; without a name: list them\n"
    "/system [TEXT]  what the model is told first, from the next question on; "
    "without a text: show it; - : nothing\n"
    "/why            why the last answer began with so much known state\n"
    "/quit           end the chat\n"
    "A line that ends in \\ goes on in the next; \"\"\" begins and ends a "
    "block; // begins a message with /.\n";

std::string as_text(const std::string& what, const std::string& none) {
  return what.empty() ? none : what;
}

} // namespace

ChatLoop::ChatLoop(const ChatArguments& arguments, ChatSession& session)
    : arguments_(arguments),
      session_(session),
      screen_(
          arguments.json ? ChatScreen::Form::kJson : ChatScreen::Form::kText),
      lines_(STDIN_FILENO, signals_.raised()),
      terminal_(isatty(STDIN_FILENO) == 1) {}

Line ChatLoop::read_line(bool goes_on) {
  if (terminal_) {
    std::fputs(goes_on ? ". " : "> ", stderr);
  }
  return lines_.next();
}

/// The first Ctrl-C at the prompt drops the line, the second in a row ends.
ChatInput ChatLoop::read() {
  for (bool warned = false;; warned = true) {
    ChatInput input =
        read_chat_input([this](bool goes_on) { return read_line(goes_on); });
    if (input.end != LineEnd::kInterrupted || signals_.terminated() || warned) {
      return input;
    }
    signals_.clear();
    std::fputs("\nCtrl-C again, or Ctrl-D, ends the chat\n", stderr);
  }
}

int ChatLoop::run() {
  if (const auto& waiting = session_.history().pending) {
    answer(ChatHistory::Pending(*waiting));
  }
  while (!signals_.terminated()) {
    const ChatInput input = read();
    if (input.end != LineEnd::kLine) {
      break;
    }
    if (input.command) {
      if (!command(input.text)) {
        break;
      }
    } else if (!input.text.empty()) {
      answer({.system = session_.history().system, .user = input.text});
    }
  }
  if (terminal_) {
    std::fputs("\n", stderr);
  }
  constexpr int kTerminated = 143;
  return signals_.terminated() ? kTerminated
      : failed_ && !terminal_  ? kFailed
                               : kOk;
}

void ChatLoop::answer(const ChatHistory::Pending& question) {
  signals_.clear();
  try {
    const ChatAnswer answer = session_.ask(
        question,
        {.text = [this](std::string_view text) { screen_.piece(text); },
         .interrupted = &signals_.raised()});
    screen_.finish(session_, answer);
    const Generation& result = answer.result;
    why_ = "reused " + std::to_string(result.reused_tokens) + " of " +
        std::to_string(result.prompt_ids.size()) + " prompt tokens (" +
        std::to_string(result.reused_from_disk) + " from disk)";
    why_ += result.reuse.empty() ? "" : ": " + result.reuse;
    if (answer.rewritten) {
      complain(
          "the template writes earlier turns otherwise now: their tokens are "
          "computed again");
      why_ += "; the template wrote earlier turns otherwise";
    }
    if (arguments_.verbose) {
      std::fprintf(stderr, "%s\n", printable(why_).c_str());
    }
  } catch (const UserError& error) {
    failed_ = true;
    complain(error.what());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal ||
        error.code() == ErrorCode::kIo) {
      throw;
    }
    failed_ = true;
    complain(error.what());
  }
  signals_.clear(); // a Ctrl-C was the answer's
}

bool ChatLoop::command(const std::string& line) {
  const size_t blank = line.find(' ');
  const std::string verb = line.substr(0, blank);
  std::string rest = blank == line.npos ? "" : line.substr(blank + 1);
  rest.erase(0, rest.find_first_not_of(' '));
  if (verb == "/quit" || verb == "/exit") {
    return false;
  }
  try {
    if (verb == "/help") {
      screen_.tell(verb, kHelp);
    } else if (verb == "/why") {
      screen_.tell(verb, as_text(why_, "nothing was answered yet"));
    } else if (verb == "/fork") {
      fork(rest);
    } else if (verb == "/save") {
      session_.save_as(rest);
      screen_.tell(verb, "kept as " + session_.name());
    } else if (verb == "/load" && !rest.empty()) {
      session_.load(rest);
      screen_.tell(verb, history_text(session_.history()));
    } else if (verb == "/load") {
      std::string list;
      for (const std::string& name : session_.names()) {
        list += name + "\n";
      }
      screen_.tell(verb, as_text(list, "no chat is kept"));
    } else if (!history_command(verb, rest)) {
      throw UserError("expected a command that there is (/help), got " + verb);
    }
  } catch (const UserError& error) {
    failed_ = true;
    complain(error.what());
  }
  // A chat that was loaded may have been killed before its answer.
  if (verb == "/load" && session_.history().pending) {
    answer(ChatHistory::Pending(*session_.history().pending));
  }
  return true;
}

bool ChatLoop::history_command(
    const std::string& verb,
    const std::string& rest) {
  const ChatHistory& history = session_.history();
  if (verb == "/history") {
    screen_.tell(verb, history_text(history));
  } else if (verb == "/tree") {
    screen_.tell(verb, tree_text(history));
  } else if (verb == "/undo") {
    if (history.current() == kNoTurn) {
      throw UserError("/undo: expected a turn to undo, got none");
    }
    session_.go_to(
        history.turns()[static_cast<size_t>(history.current())].parent);
    screen_.tell(verb, history_text(history));
  } else if (verb == "/goto") {
    try {
      const auto turn = read_integer<int64_t>("/goto", rest);
      users([&] { session_.go_to(turn); });
    } catch (const CLI::Error&) {
      throw UserError("/goto: expected the number of a turn, got " + rest);
    }
    screen_.tell(verb, history_text(history));
  } else if (verb == "/system") {
    if (!rest.empty()) {
      session_.set_system(rest == "-" ? "" : rest);
    }
    screen_.tell(verb, as_text(history.system, "no system text"));
  } else {
    return false;
  }
  return true;
}

void ChatLoop::fork(const std::string& name) {
  session_.save_as(name.empty() ? session_.free_name() : name);
  screen_.tell("/fork", "goes on as " + session_.name());
}

} // namespace holdfast::app
