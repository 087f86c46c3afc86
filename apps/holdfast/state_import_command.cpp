// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state import`: a text with its state from a file.

#include <array>
#include <memory>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/prefix/conversation.h"
#include "import_options.h"
#include "state_claims.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

/// By its first bytes.
bool is_conversation(const std::string& path) {
  require_regular(path);
  const auto file = posix_file_system()->open(path, FileSystem::Access::kRead);
  std::array<char, kConversationMagic.size()> magic{};
  return file.value()
             ->read(Bytes(0), std::as_writable_bytes(std::span(magic)))
             .ok() &&
      std::string_view(magic.data(), magic.size()) == kConversationMagic;
}

int import_conversation_file(ImportArguments& arguments) {
  const auto reader =
      ConversationReader::open(*posix_file_system(), arguments.file);
  const ConversationRecord& record = reader.value()->content().record;
  const RecordName name = arguments.record_name({record.space, record.name});
  arguments.require_folder();
  const auto disk = arguments.folder.cache_options().disk;
  RecordClaims claims(*disk);
  claims.claim(name);
  arguments.require_free(*disk, name);
  double load_ms = 0;
  const LoadedModel loaded = arguments.model.load(load_ms);
  arguments.model.state.weights = arguments.folder.digest(loaded.source.parts);
  const auto state = arguments.model.make_state(loaded);
  ProgressLine line("importing");
  const ImportResult result = users([&] {
    return import_conversation(
               *disk,
               *reader.value(),
               Scope(state->signature()),
               state->groups(),
               {.name = name,
                .foreign_bits = arguments.foreign_bits,
                .replace = arguments.replace},
               [&](Bytes done, Bytes total) {
                 line.update(done.get(), total.get());
               })
        .value();
  });
  line.clear();
  const auto& foreign = result.admission.foreign;
  print(
      arguments,
      {.name = name,
       .tokens = result.imported.tokens,
       .written = result.imported.written,
       .foreign = foreign ? foreign->origin : "",
       .least = foreign ? foreign->least : Position(0)});
  return kOk;
}

int run_import(ImportArguments& arguments) {
  arguments.model.validate();
  return is_conversation(arguments.file) ? import_conversation_file(arguments)
                                         : import_mlx_cache(arguments);
}

constexpr const char* kExamples = R"(
Reads what "holdfast state export" wrote, and prompt caches of mlx-lm
(safetensors), which have no text: give it with -p, -f or --tokens. The options
of the model are those of generate: state of another --kv is refused.

Examples:
  holdfast state import notes.holdfast -m model.gguf
  holdfast state import cache.safetensors -m model.gguf --foreign-bits \
    --name notes -f prompt.txt
  holdfast generate -m model.gguf --foreign-bits notes -f longer.txt)";

} // namespace

void add_state_import(CLI::App& state, Action& action) {
  CLI::App* verb =
      state.add_subcommand("import", "Take a text with its state from a file");
  set_command<ImportArguments>(*verb, action, kExamples, run_import);
}

} // namespace holdfast::app
