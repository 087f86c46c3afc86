// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `holdfast generate`. Values; one thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "holdfast/engine/generation.h"
#include "options.h"
#include "resume_options.h"
#include "state_folder.h"

namespace holdfast::app {

struct GenerateArguments {
  ModelOptions model;
  PromptOptions prompts;
  StateFolder folder;
  ResumeOptions resume;
  GenerateOptions generate;
  std::optional<int64_t> context; // none: what the model was made for
  std::optional<uint64_t> seed;
  bool drawn_seed = false; // nobody said which
  bool special = false; // control tokens in prompts are those tokens
  bool json = false;
  bool verbose = false;

  void add_to(CLI::App& command);
  /// Throws UserError; fills in what follows from the others.
  void complete();
  void set_seed(uint64_t value);
};

} // namespace holdfast::app
