// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/measure/linear_trial.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Times the linear kernels over random weights that no cache holds, beside the
rate at which the same threads read memory: one row (decode) is bound by
reading, many rows (prefill) by arithmetic. The best of several rounds counts.

Examples:
  holdfast bench kernels
  holdfast bench kernels --threads 1 --kernels avx512 --json)";

int run_bench(const RuntimeOptions& options, bool json) {
  const Runtime runtime = options.make();
  const int threads = runtime.executor->threads();
  measure::MemoryRate rate(*runtime.executor);
  const char* path = name(runtime.path);
  for (const measure::LinearCase& one : measure::linear_cases()) {
    rate.measure();
    const measure::LinearFigures figures =
        measure::linear_figures(one, runtime.path, *runtime.executor);
    const double memory = rate.measure();
    if (json) {
      write_out(json_line(Json{
          {"weights", one.name},
          {"kernels", path},
          {"threads", threads},
          {"read_gb_s", memory / 1e9},
          {"one_row_gb_s", figures.one_row_bytes_s / 1e9},
          {"rows_512_tflops", figures.many_rows_flops / 1e12}}));
      continue;
    }
    char text[160];
    std::snprintf(
        text,
        sizeof text,
        "%s, %d threads: linear %-21s 1 row %5.1f GB/s, memory %5.1f; 512 rows "
        "%5.2f TFLOP/s\n",
        path,
        threads,
        one.name,
        figures.one_row_bytes_s / 1e9,
        memory / 1e9,
        figures.many_rows_flops / 1e12);
    write_out(text);
  }
  return kOk;
}

} // namespace

void add_bench_kernels(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("kernels", "Speed of the linear kernels");
  const auto options = std::make_shared<RuntimeOptions>();
  const auto json = std::make_shared<bool>(false);
  options->add_to(*command);
  command->add_flag("--json", *json, "One object a line");
  command->footer(kExamples);
  command->callback([&action, options, json] {
    action = [options, json] { return run_bench(*options, *json); };
  });
}

} // namespace holdfast::app
