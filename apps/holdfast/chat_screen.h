// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a chat says: answers as they stream and what commands tell, on standard
// output; or one JSON object for each. One thread.

#pragma once

#include <string>
#include <string_view>

#include "chat_session.h"

namespace holdfast::app {

class ChatScreen {
 public:
  enum class Form { kText, kJson };
  explicit ChatScreen(Form form) : form_(form) {}

  /// A piece of the answer that runs.
  void piece(std::string_view text);
  /// Its end.
  void finish(const ChatSession& session, const ChatAnswer& answer);
  /// What a command tells.
  void tell(const std::string& command, const std::string& text);

 private:
  const Form form_;
  bool begun_ = false; // blanks at the start of an answer are not shown
  bool ended_ = true; // the last line has its end
};

/// The messages up to the current turn.
std::string history_text(const ChatHistory& history);
/// All turns, each below its parent, the current one marked.
std::string tree_text(const ChatHistory& history);

} // namespace holdfast::app
