// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <charconv>
#include <memory>
#include <sstream>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "file_guard.h"
#include "json.h"

#include "holdfast/formats/read_tokenizer.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Prints the ids of each text on a line, the file's first token (BOS) included.
The tokenizer may be a model folder's, or a tokenizer.json or tokenizer.model.

Examples:
  holdfast tokenize -m model.gguf -p "Hello world"
  holdfast tokenize -m model.gguf -f text.txt --json
  printf 'Hello' | holdfast tokenize -m model.gguf --no-bos
  holdfast tokenize -m model.gguf --decode -p "9259 1902")";

struct TokenizeArguments {
  std::string model;
  PromptOptions prompts;
  bool special = false;
  bool no_bos = false;
  bool decode = false;
  bool json = false;
};

std::string ids_line(const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) {
    line += (line.empty() ? "" : " ") + std::to_string(id);
  }
  return line + "\n";
}

void print_ids(
    const TokenizeArguments& arguments,
    const Tokenizer& tokenizer,
    const std::string& text) {
  const auto ids = tokenizer.encode(
      text,
      {.add_special = !arguments.no_bos, .parse_special = arguments.special});
  if (!arguments.json) {
    write_out(ids_line(ids));
    return;
  }
  Json pieces = Json::array();
  for (const int32_t id : ids) {
    pieces.push_back(std::string(tokenizer.piece(id)));
  }
  write_out(json_line(Json{{"ids", ids}, {"pieces", std::move(pieces)}}));
}

std::vector<int32_t> ids_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<int32_t> ids;
  for (std::string word; words >> word;) {
    int32_t id = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, id);
    if (error != std::errc() || stop != end) {
      throw UserError("--decode: expected ids with spaces between, got a word");
    }
    ids.push_back(id);
  }
  return ids;
}

void print_text(
    const TokenizeArguments& arguments,
    const Tokenizer& tokenizer,
    const std::string& words) {
  Detokenizer detokenizer(tokenizer, {.show_special = arguments.special});
  std::string text;
  for (const int32_t id : ids_of(words)) {
    text += detokenizer.push(id);
  }
  text += detokenizer.flush();
  write_out(arguments.json ? json_line(Json{{"text", text}}) : text + "\n");
}

int run_tokenize(const TokenizeArguments& arguments) {
  require_model(arguments.model);
  const std::vector<std::string> texts = arguments.prompts.read();
  const Tokenizer tokenizer = [&] {
    const FileGuard guard(arguments.model);
    return read_tokenizer(arguments.model).value();
  }();
  for (const std::string& text : texts) {
    if (arguments.decode) {
      print_text(arguments, tokenizer, text);
    } else {
      print_ids(arguments, tokenizer, text);
    }
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
      "Control tokens in the text are read as those tokens, not as text; with "
      "--decode they are shown");
  command->add_flag(
      "--no-bos", arguments->no_bos, "Leave out the tokens a file adds");
  command->add_flag(
      "--decode", arguments->decode, "The texts are ids; prints their text");
  command->add_flag(
      "--json",
      arguments->json,
      "{ids, pieces}, one a line; {text} with --decode");
  command->footer(kExamples);
  set_action(*command, action, arguments, run_tokenize);
}

} // namespace holdfast::app
