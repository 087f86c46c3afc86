// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C (SIGINT) ends an answer, SIGTERM the chat: both as flags, and both
// interrupt a read. One object at a time.

#pragma once

#include <atomic>

namespace holdfast::app {

class ChatSignals {
 public:
  ChatSignals();
  ~ChatSignals();
  ChatSignals(const ChatSignals&) = delete;
  ChatSignals& operator=(const ChatSignals&) = delete;

  /// Either came since clear().
  const std::atomic<bool>& raised() const;
  /// Forgets a Ctrl-C; SIGTERM stays.
  void clear();
  bool terminated() const;
};

} // namespace holdfast::app
