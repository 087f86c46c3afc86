// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state export`: a record with its state, in a file.

#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/base/zstd.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/conversation_export.h"
#include "json.h"
#include "state_print.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct ExportArguments : StateTarget {
  std::string name;
  std::string file;
  std::optional<int32_t> level;
  bool force = false;
};

void require_new(FileSystem& files, const ExportArguments& arguments) {
  if (const int32_t level = arguments.level.value_or(kLeastZstdLevel);
      level < kLeastZstdLevel || level > kMostZstdLevel) {
    throw UserError(
        "--zstd: expected a level from 1 to 19, got " + std::to_string(level));
  }
  if (!arguments.force && files.facts(arguments.file).ok()) {
    throw UserError(
        arguments.file +
        ": expected no file of that name, got one (--force replaces it)");
  }
}

void print(
    const ExportArguments& arguments,
    const RecordName& name,
    const ExportedConversation& done) {
  if (arguments.json) {
    write_out(json_line(
        {{"space", name.space},
         {"name", name.name},
         {"file", arguments.file},
         {"tokens", done.tokens.get()},
         {"images", done.images},
         {"image_bytes", done.image_bytes.get()},
         {"file_bytes", done.file_bytes.get()}}));
    return;
  }
  write_out(
      shown(name) + ": " + std::to_string(done.tokens.get()) + " tokens, " +
      shown_bytes(done.image_bytes) + " of state, " +
      shown_bytes(done.file_bytes) + " in " + printable(arguments.file) + "\n");
}

int run_export(const ExportArguments& arguments) {
  const auto files = posix_file_system();
  require_new(*files, arguments);
  const auto tier = arguments.open();
  const RecordName name = find_record(*tier, arguments.name);
  ProgressLine line("exporting");
  auto exported = export_record(
      *tier,
      name,
      {.files = files,
       .path = arguments.file,
       .zstd_level = arguments.level.value_or(0)},
      [&](Bytes done, Bytes total) { line.update(done.get(), total.get()); });
  line.clear();
  print(arguments, name, exported.value());
  return kOk;
}

constexpr const char* kExamples = R"(
The file holds the text and its state, for "holdfast state import" of another
machine with the same model and options. It is as private as its folder makes it.

Examples:
  holdfast state export chat/notes notes.holdfast
  holdfast state export 3f2a story.holdfast --zstd 3)";

} // namespace

void add_state_export(CLI::App& state, Action& action) {
  CLI::App* verb =
      state.add_subcommand("export", "Write a record with its state to a file");
  const auto arguments = std::make_shared<ExportArguments>();
  verb->add_option(
          "name", arguments->name, "The record, or how its name begins")
      ->type_name("NAME")
      ->required();
  not_empty(verb->add_option("file", arguments->file, "The file to make"))
      ->type_name("FILE")
      ->required();
  add_integer(
      *verb,
      "--zstd",
      arguments->level,
      "Pack with zstd, 1 (fast) to 19 (small) (default: not packed)");
  verb->add_flag("--force", arguments->force, "Replace the file");
  arguments->add_to(*verb);
  verb->footer(kExamples);
  set_action(*verb, action, arguments, run_export);
}

} // namespace holdfast::app
