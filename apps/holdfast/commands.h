// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The commands: each adds its options below `app` and sets `action` when it is
// chosen. One thread.

#pragma once

#include <CLI/CLI.hpp>

#include "options.h"

namespace holdfast::app {

void add_generate(CLI::App& app, Action& action);
void add_chat(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_template(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_state(CLI::App& app, Action& action);
void add_state_ls(CLI::App& state, Action& action);
void add_state_show(CLI::App& state, Action& action);
void add_state_stats(CLI::App& state, Action& action);
void add_state_why(CLI::App& state, Action& action);
void add_state_pin(CLI::App& state, Action& action);
void add_state_unpin(CLI::App& state, Action& action);
void add_state_forget(CLI::App& state, Action& action);
void add_state_export(CLI::App& state, Action& action);
void add_state_import(CLI::App& state, Action& action);
void add_state_prune(CLI::App& state, Action& action);
void add_state_verify(CLI::App& state, Action& action);
void add_state_flush(CLI::App& state, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_bench_model(CLI::App& bench, Action& action);
void add_bench_load(CLI::App& bench, Action& action);
void add_bench_kernels(CLI::App& bench, Action& action);
void add_bench_attend(CLI::App& bench, Action& action);
void add_bench_lookup(CLI::App& bench, Action& action);
void add_bench_restore(CLI::App& bench, Action& action);
void add_bench_persist(CLI::App& bench, Action& action);

/// Parses the command line, runs the command, and reports what went wrong in
/// one line. Returns the exit code; throws nothing.
int run(int argc, char** argv) noexcept;

} // namespace holdfast::app
