// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_loop.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include "console.h"
#include "errors.h"
#include "options.h"

namespace holdfast::app {

namespace {

constexpr const char* kInput =
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
  while (!signals_.terminated() && !ended_) {
    const ChatInput input = read();
    if (input.end != LineEnd::kLine) {
      break;
    }
    if (input.command) {
      command(input.text);
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

void ChatLoop::said(const std::function<void()>& what) {
  try {
    what();
    return;
  } catch (const UserError& error) {
    complain(error.what());
  } catch (const Error& error) {
    complain(error.what());
  } catch (const CLI::Error& error) {
    complain(error.what());
  }
  failed_ = true;
}

std::span<const ChatLoop::Command> ChatLoop::commands() {
  static constexpr Command kCommands[] = {
      {"/help", "", "this list", &ChatLoop::help},
      {"/history", "", "what was said up to here", &ChatLoop::show_history},
      {"/tree", "", "all turns, with their numbers", &ChatLoop::tree},
      {"/undo",
       "",
       "go back to before the last question; its turn stays in the tree",
       &ChatLoop::undo},
      {"/goto", "N", "go to turn N of the tree", &ChatLoop::go_to},
      {"/fork",
       "[NAME]",
       "go on in a copy of the chat; this one stays as it is",
       &ChatLoop::fork},
      {"/save",
       "NAME",
       "keep the chat under this name too, and go on there",
       &ChatLoop::save},
      {"/load",
       "[NAME]",
       "go to another chat; without a name: list them",
       &ChatLoop::load},
      {"/system",
       "[TEXT]",
       "what the model is told first, from the next question on; without a "
       "text: show it; - : nothing",
       &ChatLoop::system},
      {"/why",
       "",
       "why the last answer began with so much known state",
       &ChatLoop::why},
      {"/quit", "", "end the chat", &ChatLoop::quit}};
  return kCommands;
}

void ChatLoop::command(const std::string& line) {
  const size_t blank = line.find(' ');
  const std::string verb = line.substr(0, blank);
  std::string rest = blank == line.npos ? "" : line.substr(blank + 1);
  rest.erase(0, rest.find_first_not_of(' '));
  const auto all = commands();
  const auto found =
      std::ranges::find(all, verb == "/exit" ? "/quit" : verb, &Command::verb);
  said([&] {
    if (found == all.end()) {
      throw UserError("expected a command that there is (/help), got " + verb);
    }
    (this->*found->run)(rest);
  });
  // A chat that was loaded may have been killed before its answer.
  if (const auto& waiting = session_.history().pending;
      waiting && verb == "/load") {
    answer(ChatHistory::Pending(*waiting));
  }
}

void ChatLoop::help(const std::string&) {
  std::string text;
  for (const Command& each : commands()) {
    constexpr size_t kColumn = 16;
    std::string name(each.verb);
    name += each.argument.empty() ? "" : " " + std::string(each.argument);
    name.resize(kColumn, ' ');
    text += name + std::string(each.help) + "\n";
  }
  screen_.tell("/help", text + kInput);
}

void ChatLoop::tell_history(const char* verb) {
  screen_.tell(verb, history_text(session_.history()));
}

void ChatLoop::show_history(const std::string&) {
  tell_history("/history");
}

void ChatLoop::tree(const std::string&) {
  screen_.tell("/tree", tree_text(session_.history()));
}

void ChatLoop::undo(const std::string&) {
  const ChatHistory& history = session_.history();
  if (history.current() == kNoTurn) {
    throw UserError("/undo: expected a turn to undo, got none");
  }
  session_.go_to(
      history.turns()[static_cast<size_t>(history.current())].parent);
  tell_history("/undo");
}

void ChatLoop::go_to(const std::string& rest) {
  session_.go_to(read_integer<int64_t>("/goto", rest));
  tell_history("/goto");
}

void ChatLoop::fork(const std::string& rest) {
  if (rest.empty()) {
    session_.fork();
  } else {
    session_.save_as(rest);
  }
  screen_.tell("/fork", "goes on as " + session_.name());
}

void ChatLoop::save(const std::string& rest) {
  session_.save_as(rest);
  screen_.tell("/save", "kept as " + session_.name());
}

void ChatLoop::load(const std::string& rest) {
  if (rest.empty()) {
    std::string list;
    for (const std::string& name : session_.names()) {
      list += name + "\n";
    }
    screen_.tell("/load", as_text(list, "no chat is kept"));
    return;
  }
  session_.load(rest);
  tell_history("/load");
}

void ChatLoop::system(const std::string& rest) {
  if (!rest.empty()) {
    session_.set_system(rest == "-" ? "" : rest);
  }
  screen_.tell("/system", as_text(session_.history().system, "no system text"));
}

void ChatLoop::why(const std::string&) {
  screen_.tell("/why", as_text(why_, "nothing was answered yet"));
}

void ChatLoop::quit(const std::string&) {
  ended_ = true;
}

} // namespace holdfast::app
