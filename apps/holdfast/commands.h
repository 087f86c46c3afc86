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
void add_eval(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_bench_model(CLI::App& bench, Action& action);
void add_bench_kernels(CLI::App& bench, Action& action);
void add_bench_attend(CLI::App& bench, Action& action);

/// Parses the command line, runs the command, and reports what went wrong in
/// one line. Returns the exit code; throws nothing.
int run(int argc, char** argv) noexcept;

} // namespace holdfast::app
