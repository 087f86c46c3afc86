// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast bench load`: how fast a model's weights come into the kernels'
// form.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "holdfast/env/pages.h"
#include "holdfast/measure/seconds.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Loads the model's weights several times, the files in memory from the second
time on, and copies as many bytes as they have with the same threads into memory
that is new, as that of weights is. The best turn of each counts.

Examples:
  holdfast bench load -m model.gguf
  holdfast bench load -m Qwen3-4B --repeat 5 --threads 8 --json)";

constexpr int64_t kPart = int64_t{4} << 20;

struct LoadArguments {
  std::string model;
  RuntimeOptions runtime;
  int64_t repeat = 3;
  bool json = false;

  void add_to(CLI::App& command) {
    add_model_path(command, model);
    runtime.add_to(command);
    add_integer(command, "--repeat", repeat, "Turns (default 3)");
    command.add_flag("--json", json, "One object");
  }
};

struct LoadFigures {
  double first = 0; // seconds
  double best = 1e30;
  double copy = 1e30; // of as many bytes as the packed weights
  int64_t bytes = 0; // packed

  double rate(double seconds) const {
    return static_cast<double>(bytes) / seconds / 1e9;
  }
};

double copy_seconds(int64_t bytes, const std::byte* from, Executor& team) {
  return measure::time_of([&] {
    const auto to = allocate_pages(bytes);
    team.for_each((bytes + kPart - 1) / kPart, [&](int64_t part, int) {
      const int64_t at = part * kPart;
      std::memcpy(
          to.get() + at,
          from + at,
          static_cast<size_t>(std::min(kPart, bytes - at)));
    });
  });
}

LoadFigures measure_load(const LoadArguments& arguments) {
  const Runtime runtime = arguments.runtime.make();
  const FileGuard guard(arguments.model);
  LoadFigures figures;
  for (int64_t i = 0; i < arguments.repeat; ++i) {
    const double seconds = measure::time_of([&] {
      figures.bytes =
          load_weights(arguments.model, runtime)->weight_bytes().get();
    });
    figures.first = i == 0 ? seconds : figures.first;
    figures.best = std::min(figures.best, seconds);
  }
  const auto from = allocate_pages(figures.bytes);
  std::memset(from.get(), 1, static_cast<size_t>(figures.bytes));
  for (int64_t i = 0; i < arguments.repeat; ++i) {
    figures.copy = std::min(
        figures.copy,
        copy_seconds(figures.bytes, from.get(), *runtime.executor));
  }
  return figures;
}

int run_bench_load(const LoadArguments& arguments) {
  require_model(arguments.model);
  require_within("--repeat", arguments.repeat, 1, 1000);
  const LoadFigures figures = measure_load(arguments);
  if (arguments.json) {
    write_out(json_line(
        {{"bytes", figures.bytes},
         {"first_s", figures.first},
         {"best_s", figures.best},
         {"gb_s", figures.rate(figures.best)},
         {"copy_gb_s", figures.rate(figures.copy)}}));
    return kOk;
  }
  char text[200];
  std::snprintf(
      text,
      sizeof text,
      "%.1f MB of weights in %.2f s (first time %.2f s): %.2f GB/s, copied at "
      "%.2f GB/s\n",
      static_cast<double>(figures.bytes) / 1e6,
      figures.best,
      figures.first,
      figures.rate(figures.best),
      figures.rate(figures.copy));
  write_out(text);
  return kOk;
}

} // namespace

void add_bench_load(CLI::App& bench, Action& action) {
  CLI::App* command =
      bench.add_subcommand("load", "How fast a model's weights are loaded");
  set_command<LoadArguments>(*command, action, kExamples, run_bench_load);
}

} // namespace holdfast::app
