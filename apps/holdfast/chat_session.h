// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A chat that runs: asks the model, keeps the history, on disk where there is a
// folder. Every turn begins with the state that the last one left.
//
// Invariant: a question is on disk before it is answered, and a turn when its
// answer has ended; a killed one goes on where its last checkpoint was and ends
// as it would have. Threads: the engine thread.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat_options.h"
#include "chat_store.h"
#include "holdfast/engine/chat_prompt.h"
#include "holdfast/engine/resumable_run.h"
#include "holdfast/formats/chat_history.h"
#include "running_model.h"

namespace holdfast::app {

/// What a turn was, beside its place in the history.
struct ChatAnswer {
  Generation result;
  bool rewritten = false; // the template changed what came before
  bool durable = false;
};

class ChatSession {
 public:
  /// Loads the chat of `--continue`, or begins one. The arguments outlive it.
  /// Throws UserError.
  ChatSession(ChatArguments& arguments, RunningModel& running);

  const ChatHistory& history() const {
    return history_;
  }
  /// Empty without a folder.
  const std::string& name() const {
    return name_;
  }
  bool kept() const {
    return store_ != nullptr;
  }
  bool has_template() const;

  struct Hooks {
    std::function<void(std::string_view text)> text = {};
    const std::atomic<bool>* interrupted = nullptr;
  };
  /// Answers the question; a question that waits is answered by the same call.
  /// Where it throws, no turn was added; after kIo the question still waits on
  /// disk.
  ChatAnswer ask(const ChatHistory::Pending& question, const Hooks& hooks);

  void set_system(const std::string& text);
  void go_to(int64_t turn);
  /// This chat under another name, which is its name from then on.
  void save_as(const std::string& name);
  /// The same, under its name with a number that no chat has.
  void fork();
  void load(const std::string& name);
  std::vector<std::string> names();

 private:
  std::unique_ptr<ResumableRun> begin_run();
  void ask_on_disk(const ChatHistory::Pending& question);
  void drop_question() noexcept;
  /// With an answer that was interrupted where there is one; anew where that is
  /// of other options. resumable: what became of it.
  Generation answered(
      const TurnPrompt& prompt,
      const Hooks& hooks,
      std::unique_ptr<ResumableRun>& resumable);
  Generation generate(
      const TurnPrompt& prompt,
      const Hooks& hooks,
      ResumableRun* resumable);
  /// True where all of it is on disk. Where it throws, nothing is changed.
  bool keep(const ChatHistory& history);
  /// From here on the history is that one, on disk too.
  void change(ChatHistory history);
  /// The same under the name that the store has opened; where it throws, the
  /// chat goes on as it was, and so does the store.
  void keep_as(const std::string& name, ChatStore::Opened former);
  /// The turn's end: an answer that there is no room for is told, not lost.
  bool keep_answer(std::unique_ptr<ResumableRun> run);
  void require_folder(const char* command) const;
  /// The chat that the store has open, where it can be gone on with here.
  ChatHistory loaded(const std::string& name);
  void use(ChatHistory history);
  /// Opens a chat of this name with a number, the first that no chat has; its
  /// name.
  std::string begin_numbered(const std::string& before);

  ChatArguments& arguments_;
  RunningModel& running_;
  std::unique_ptr<ChatStore> store_;
  std::string vocabulary_;
  std::string name_;
  ChatHistory history_;
  std::unique_ptr<const ChatPrompt> prompt_;
  // Of answers that are not in a chat on disk: a killed one has them from
  // there.
  std::vector<std::unique_ptr<ResumableRun>> answered_;
};

} // namespace holdfast::app
