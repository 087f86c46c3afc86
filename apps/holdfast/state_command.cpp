// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state`: what is kept, and what becomes of it.

#include "commands.h"

namespace holdfast::app {

namespace {

/// One line a verb, in the order of the help.
constexpr void (*kVerbs[])(CLI::App&, Action&) = {
    add_state_ls,
    add_state_show,
    add_state_stats,
    add_state_why,
    add_state_pin,
    add_state_unpin,
    add_state_forget,
    add_state_export,
    add_state_import,
    add_state_prune,
    add_state_verify,
    add_state_flush,
};

constexpr const char* kExamples = R"(
Examples:
  holdfast state ls
  holdfast state why -m model.gguf -p "The capital of France is"
  holdfast state forget 3f2a

Every verb has its own --help.)";

} // namespace

void add_state(CLI::App& app, Action& action) {
  CLI::App* state = app.add_subcommand("state", "See and manage what was kept");
  state->footer(kExamples);
  state->require_subcommand(1);
  for (const auto add : kVerbs) {
    add(*state, action);
  }
}

} // namespace holdfast::app
