// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "chat_options.h"

#include <algorithm>

#include "errors.h"
#include "holdfast/formats/utf8.h"

namespace holdfast::app {

void require_chat_name(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f;
  });
  if (name.empty() || name.size() > 100 || !plain || !is_utf8(name)) {
    throw UserError(
        "expected a chat's name of 1 to 100 bytes without spaces, got \"" +
        name + '"');
  }
}

void ChatArguments::add_to(CLI::App& command) {
  generate.max_tokens = 1024;
  model.add_to(command);
  model.add_compiled_to(command);
  folder.add_to(command);
  folder.add_foreign_to(command);
  checkpoints.add_to(command);
  TextOptions::add_to(command);
  command.add_option("--system", system, "What the model is told first")
      ->type_name("TEXT");
  command.add_option("--name", name, "Keep the chat under this name")
      ->type_name("NAME");
  command
      .add_option_function<std::vector<std::string>>(
          "--continue",
          [this](const std::vector<std::string>& names) {
            goes_on = true;
            continued = names.empty() ? "" : names.front();
          },
          "Go on with a chat that was kept (default: the last one)")
      ->expected(0, 1)
      ->type_name("NAME")
      ->trigger_on_parse();
  command.add_flag(
      "--special",
      special,
      "Control tokens in messages are read as those tokens, not as text");
  command.add_flag("--json", json, "One object a line for each turn");
  command.add_flag(
      "--verbose", verbose, "Say how the model runs and what was reused");
}

void ChatArguments::complete() {
  model.validate();
  checkpoints.validate();
  TextOptions::complete(model.chunk);
  if (goes_on && !folder.kept()) {
    throw UserError(
        "--continue: expected a folder of state (--state), got none");
  }
  if (goes_on && (!name.empty() || system)) {
    throw UserError(
        "--continue: expected it without --name and --system, got both");
  }
  if (!name.empty() && !folder.kept()) {
    throw UserError("--name: expected a folder of state (--state), got none");
  }
  for (const std::string& given : {name, continued}) {
    if (!given.empty()) {
      require_chat_name(given);
    }
  }
  if (system && !is_utf8(*system)) {
    throw UserError("--system: expected UTF-8, got other bytes");
  }
}

} // namespace holdfast::app
