// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Chats as records of a cache with a disk (chat_record.h). The one that is open
// is claimed: no other process stores it meanwhile. What could not be written
// is said on standard error. One thread: the state's.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/formats/chat_history.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/tier/key_claims.h"

namespace holdfast::app {

class ChatStore {
 public:
  /// The cache, which has a disk, outlives it; model: the name of its file.
  ChatStore(PrefixCache& cache, std::string model);

  /// Opens the chat of that name, whether it is kept yet or not, in place of
  /// the one that is open. Throws UserError where another process has it open;
  /// then the one that is open stays so.
  void open(const std::string& name);
  /// The same; false where another process has it open.
  bool try_open(const std::string& name);
  /// The same of one that is not kept yet; false where it is.
  bool try_begin(const std::string& name);
  /// What is open: it is not evicted, and no other process opens it while a
  /// copy of this lives.
  struct Opened {
    std::string name;
    std::shared_ptr<void> claim;
  };
  Opened opened() const {
    return {name_, claim_};
  }
  void reopen(Opened former);

  // Of the chat that is open:

  /// The history is on disk when it returns true; the question that waited is
  /// answered.
  bool store(const ChatHistory& history);
  /// The question that waits, and a chat that has no turn yet with it.
  bool store_question(const ChatHistory& history);
  void drop_question();
  /// With the question that waits. Throws UserError where there is no such
  /// chat, or it cannot be read.
  ChatHistory load();

  bool has(const std::string& name);
  /// The one stored last, also one that cannot be read; nothing where there is
  /// none.
  std::optional<std::string> newest();
  std::vector<std::string> names();

 private:
  /// Not so of a text without a history.
  bool is_chat(const std::string& name);
  NamedRecord record(RecordName name, const std::string& line) const;
  bool flush();

  PrefixCache& cache_;
  const std::string model_;
  KeyClaims claims_;
  std::shared_ptr<void> claim_;
  std::string name_; // of the chat that is open
  bool complained_ = false;
};

} // namespace holdfast::app
