// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Prints the ids of each text on a line, the file's first token (BOS) included.

Examples:
  holdfast tokenize -m model.gguf -p "Hello world"
  holdfast tokenize -m model.gguf -f text.txt --json
  printf 'Hello' | holdfast tokenize -m model.gguf --no-bos)";

struct TokenizeArguments {
  std::string model;
  PromptOptions prompts;
  bool special = false;
  bool no_bos = false;
  bool json = false;
};

std::string ids_line(const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) {
    line += (line.empty() ? "" : " ") + std::to_string(id);
  }
  return line + "\n";
}

int run_tokenize(const TokenizeArguments& arguments) {
  require_regular(arguments.model);
  const std::vector<std::string> texts = arguments.prompts.read();
  const ModelFile source = [&] {
    const FileGuard guard(arguments.model);
    return open_model_file(arguments.model);
  }();
  for (const std::string& text : texts) {
    const auto ids = source.tokenizer.encode(
        text,
        {.add_special = !arguments.no_bos, .parse_special = arguments.special});
    if (!arguments.json) {
      write_out(ids_line(ids));
      continue;
    }
    Json pieces = Json::array();
    for (const int32_t id : ids) {
      pieces.push_back(std::string(source.tokenizer.piece(id)));
    }
    write_out(json_line(Json{{"ids", ids}, {"pieces", std::move(pieces)}}));
  }
  return kOk;
}

} // namespace

void add_tokenize(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Print the token ids of a text");
  const auto arguments = std::make_shared<TokenizeArguments>();
  add_model_path(*command, arguments->model);
  arguments->prompts.add_to(*command);
  command->add_flag(
      "--special",
      arguments->special,
      "Control tokens in the text are read as those tokens, not as text");
  command->add_flag(
      "--no-bos", arguments->no_bos, "Leave out the tokens a file adds");
  command->add_flag("--json", arguments->json, "{ids, pieces}, one a line");
  command->footer(kExamples);
  set_action(*command, action, arguments, run_tokenize);
}

} // namespace holdfast::app
