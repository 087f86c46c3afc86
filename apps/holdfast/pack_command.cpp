// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast pack`: a model folder in fewer bits.

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "holdfast/engine/pack_model.h"
#include "holdfast/env/posix_file_system.h"
#include "interrupt.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
OUT gets the model's matrices as MLX quantises them, its other tensors, its
config.json, and its tokenizer's files as they are. It must not exist, and is
there only once all of it is on disk.

Examples:
  holdfast pack Qwen3-4B Qwen3-4B-4bit
  holdfast pack Qwen3-4B Qwen3-4B-8bit --bits 8 --group 32 --json)";

struct PackArguments {
  std::string model;
  std::string out;
  int64_t bits = 4;
  int64_t group = 64;
  bool json = false;

  void add_to(CLI::App& command) {
    not_empty(command.add_option("model", model, "A model folder"))
        ->type_name("MODEL")
        ->required();
    not_empty(command.add_option("out", out, "The folder to be made"))
        ->type_name("OUT")
        ->required();
    add_integer(
        command, "--bits", bits, "2, 3, 4, 5, 6 or 8 a weight (default 4)");
    add_integer(
        command,
        "--group",
        group,
        "32, 64 or 128 weights share a scale (default 64)");
    command.add_flag("--json", json, "One object when it is done");
  }

  MlxQuantized kind() const {
    if (bits < 2 || bits > 8 || bits == 7) {
      throw UserError(
          "--bits: expected 2, 3, 4, 5, 6 or 8, got " + std::to_string(bits));
    }
    if (group != 32 && group != 64 && group != 128) {
      throw UserError(
          "--group: expected 32, 64 or 128, got " + std::to_string(group));
    }
    return {static_cast<int>(bits), static_cast<int>(group)};
  }
};

void print(
    const PackArguments& arguments,
    const PackReport& report,
    double seconds) {
  if (arguments.json) {
    write_out(json_line(
        {{"out", arguments.out},
         {"bits", arguments.bits},
         {"group", arguments.group},
         {"tensors", report.tensors},
         {"quantized", report.quantized},
         {"files", report.files},
         {"source_bytes", report.source.get()},
         {"bytes", report.written.get()},
         {"seconds", seconds}}));
    return;
  }
  char text[160];
  std::snprintf(
      text,
      sizeof text,
      ": %lld of %lld tensors quantised, %.1f MB of %.1f MB, in %.1f s\n",
      static_cast<long long>(report.quantized),
      static_cast<long long>(report.tensors),
      static_cast<double>(report.written.get()) / 1e6,
      static_cast<double>(report.source.get()) / 1e6,
      seconds);
  write_out(printable(arguments.out) + text);
}

int run_pack(const PackArguments& arguments) {
  const MlxQuantized kind = arguments.kind();
  const auto begin = std::chrono::steady_clock::now();
  const InterruptFlag interrupt;
  const FileGuard guard(arguments.model);
  ProgressLine line("packing");
  try {
    const PackReport report = users([&] {
      return pack_model(
          *posix_file_system(),
          {.model = arguments.model,
           .out = arguments.out,
           .kind = kind,
           .progress =
               [&](Bytes done, Bytes total) {
                 line.update(done.get(), total.get());
               },
           .interrupted = &interrupt.raised()});
    });
    line.clear();
    print(
        arguments,
        report,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count());
    return kOk;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kStale) {
      throw;
    }
    line.clear();
    complain(error.what());
    return interrupt.exit_code();
  }
}

} // namespace

void add_pack(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("pack", "Write a model folder in fewer bits");
  set_command<PackArguments>(*command, action, kExamples, run_pack);
}

} // namespace holdfast::app
