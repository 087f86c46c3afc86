// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `holdfast chat`. Values; one thread.

#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "options.h"
#include "resume_options.h"
#include "state_folder.h"
#include "text_options.h"

namespace holdfast::app {

struct ChatArguments : TextOptions {
  ModelOptions model;
  StateFolder folder;
  CheckpointOptions checkpoints; // of the answer that runs
  std::optional<std::string> system;
  std::string name; // of a new chat; empty: made of the time
  bool goes_on = false; // --continue
  std::string continued; // its name; empty: the one stored last
  bool special = false; // control tokens in messages are those tokens
  bool json = false;
  bool verbose = false;

  void add_to(CLI::App& command);
  /// Throws UserError; fills in what follows from the others.
  void complete();
};

/// Throws UserError for what is no name of a chat: empty, longer than 100
/// bytes, with control characters or spaces in it.
void require_chat_name(const std::string& name);

} // namespace holdfast::app
