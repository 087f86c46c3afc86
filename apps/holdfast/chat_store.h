// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chats as records of the space "chat" of a cache with a disk: a history, with
// the tokens of its current turn, so that their state stays with it. One
// thread: the state's.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chat_history.h"
#include "holdfast/prefix/prefix_cache.h"

namespace holdfast::app {

class ChatStore {
 public:
  /// The cache outlives it; model: the name of its file.
  ChatStore(PrefixCache& cache, std::string model)
      : cache_(cache), model_(std::move(model)) {}

  /// The history is on disk when it returns true; it says on standard error
  /// where it could not be written. Throws kStale where another process stored
  /// the chat since this one read or stored it.
  bool store(const std::string& name, const ChatHistory& history);
  /// Throws UserError where there is none, or it cannot be read.
  ChatHistory load(const std::string& name);
  bool has(const std::string& name);
  /// The one stored last; nothing where there is none.
  std::optional<std::string> newest();
  std::vector<std::string> names();

 private:
  PrefixCache& cache_;
  const std::string model_;
  std::map<std::string, uint64_t> versions_; // as read or stored here
  bool complained_ = false;
};

} // namespace holdfast::app
