// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The conversation with the person: messages and commands from standard input,
// until it ends. One thread.

#pragma once

#include <string>

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
  /// False where the chat ends.
  bool command(const std::string& line);
  bool history_command(const std::string& verb, const std::string& rest);
  void fork(const std::string& name);

  const ChatArguments& arguments_;
  ChatSession& session_;
  ChatSignals signals_;
  ChatScreen screen_;
  LineReader lines_;
  const bool terminal_;
  std::string why_; // of the last answer
  bool failed_ = false; // a turn, or a command
};

} // namespace holdfast::app
