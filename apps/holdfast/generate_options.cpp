// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "generate_options.h"

#include "errors.h"

namespace holdfast::app {

void GenerateArguments::add_to(CLI::App& command) {
  model.add_to(command);
  model.add_compiled_to(command);
  prompts.add_to(command);
  folder.add_to(command);
  folder.add_foreign_to(command);
  resume.add_to(command);
  TextOptions::add_to(command);
  command.add_flag(
      "--special",
      special,
      "Control tokens in the prompt are read as those tokens, not as text");
  command.add_flag("--json", json, "One object a line for each prompt");
  add_integer(
      command,
      "--logprobs",
      generate.logprobs,
      "With --json: log-probabilities of the choice and the N most likely");
  command.add_flag("--verbose", verbose, "Say how the model runs");
}

void GenerateArguments::complete() {
  model.validate();
  resume.validate(folder, model.state.reference_read);
  TextOptions::complete(model.chunk);
  if (generate.logprobs && !json) {
    throw UserError("--logprobs: expected with --json, got it alone");
  }
}

} // namespace holdfast::app
