// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "commands.h"

namespace holdfast::app {

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "Measure speed");
  bench->require_subcommand(1);
  bench->footer(R"(
Examples:
  holdfast bench model -m model.gguf --prompt 512 --gen 64
  holdfast bench load -m model.gguf
  holdfast bench kernels
  holdfast bench attend --rows 1
  holdfast bench lookup
  holdfast bench restore -m model.gguf
  holdfast bench persist -m model.gguf)");
  add_bench_model(*bench, action);
  add_bench_load(*bench, action);
  add_bench_kernels(*bench, action);
  add_bench_attend(*bench, action);
  add_bench_lookup(*bench, action);
  add_bench_restore(*bench, action);
  add_bench_persist(*bench, action);
}

} // namespace holdfast::app
