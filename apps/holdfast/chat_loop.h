// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The conversation with the person: messages and commands from standard input,
// until it ends. One thread.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "chat_input.h"
#include "chat_screen.h"
#include "chat_session.h"
#include "chat_signals.h"

namespace holdfast::app {

class ChatLoop {
 public:
  ChatLoop(const ChatArguments& arguments, ChatSession& session);
  /// The exit code.
  int run();

 private:
  ChatInput read();
  Line read_line(bool goes_on);
  void answer(const ChatHistory::Pending& question);
  /// Does it; what was refused or failed is said in a line.
  void said(const std::function<void()>& what);

  // Commands, each with what stands behind its verb.

  struct Command {
    std::string_view verb;
    std::string_view argument;
    std::string_view help;
    void (ChatLoop::*run)(const std::string& rest);
  };
  static std::span<const Command> commands();
  void command(const std::string& line);
  void help(const std::string& rest);
  void show_history(const std::string& rest);
  void tree(const std::string& rest);
  void undo(const std::string& rest);
  void go_to(const std::string& rest);
  void fork(const std::string& rest);
  void save(const std::string& rest);
  void load(const std::string& rest);
  void system(const std::string& rest);
  void why(const std::string& rest);
  void quit(const std::string& rest);
  void tell_history(const char* verb);

  const ChatArguments& arguments_;
  ChatSession& session_;
  ChatSignals signals_;
  ChatScreen screen_;
  LineReader lines_;
  const bool terminal_;
  std::string why_; // of the last answer
  bool failed_ = false; // a turn, or a command
  bool ended_ = false; // by /quit
};

} // namespace holdfast::app
