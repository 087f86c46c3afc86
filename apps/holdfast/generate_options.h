// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `holdfast generate`. Values; one thread.

#pragma once

#include <CLI/CLI.hpp>

#include "options.h"
#include "resume_options.h"
#include "state_folder.h"
#include "text_options.h"

namespace holdfast::app {

struct GenerateArguments : TextOptions {
  ModelOptions model;
  PromptOptions prompts;
  StateFolder folder;
  ResumeOptions resume;
  bool special = false; // control tokens in prompts are those tokens
  bool json = false;
  bool verbose = false;

  void add_to(CLI::App& command);
  /// Throws UserError; fills in what follows from the others.
  void complete();
};

} // namespace holdfast::app
