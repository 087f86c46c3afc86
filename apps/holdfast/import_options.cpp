// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "import_options.h"

#include <charconv>
#include <filesystem>

#include "console.h"
#include "errors.h"
#include "state_print.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

constexpr const char* kSpace = "chat"; // of names without one

std::vector<int32_t> read_tokens(const std::string& path) {
  const std::string text = read_text_file(path);
  std::vector<int32_t> tokens;
  constexpr const char* kBetween = " ,\t\r\n[]";
  size_t at = text.find_first_not_of(kBetween);
  while (at != std::string::npos) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    int32_t token = 0;
    const char* last = text.data() + end;
    const auto [stop, error] = std::from_chars(text.data() + at, last, token);
    if (error != std::errc() || stop != last || token < 0) {
      throw UserError(
          "--tokens: expected ids of tokens, got \"" +
          text.substr(at, std::min<size_t>(end - at, 40)) + "\"");
    }
    tokens.push_back(token);
    at = text.find_first_not_of(kBetween, end);
  }
  return tokens;
}

} // namespace

void ImportArguments::add_to(CLI::App& verb) {
  not_empty(verb.add_option("file", file, "The file"))
      ->type_name("FILE")
      ->required();
  not_empty(
      verb.add_option("--name", name, "Under which name (default: the file's)"))
      ->type_name("NAME");
  verb.add_flag("--replace", replace, "Replace a record of that name");
  verb.add_flag(
      "--foreign-bits",
      foreign_bits,
      "Take state that another kernel path or engine computed, kept apart");
  not_empty(verb.add_option(
                "--tokens",
                tokens_file,
                "Ids of the tokens, for a cache of mlx-lm, which has none"))
      ->type_name("FILE");
  verb.add_flag(
      "--special", special, "Control tokens in the prompt are those tokens");
  verb.add_flag("--json", json, "As an object");
  model.add_to(verb);
  prompts.add_to(verb);
  folder.add_to(verb);
}

void ImportArguments::require_folder() const {
  if (!folder.kept()) {
    throw UserError("--state: expected a folder to import into, got none");
  }
}

RecordName ImportArguments::record_name(const RecordName& otherwise) const {
  if (name.empty()) {
    return otherwise.name.empty()
        ? RecordName{kSpace, std::filesystem::path(file).stem().string()}
        : otherwise;
  }
  const size_t slash = name.find('/');
  const RecordName given = slash == std::string::npos
      ? RecordName{otherwise.space.empty() ? kSpace : otherwise.space, name}
      : RecordName{name.substr(0, slash), name.substr(slash + 1)};
  if (given.space.empty() || given.name.empty()) {
    throw UserError(
        "--name: expected a name or space/name, got \"" + name + "\"");
  }
  return given;
}

void ImportArguments::require_free(DiskTier& tier, const RecordName& of) const {
  if (!replace && tier.record(of).ok()) {
    throw UserError(
        "expected a name that is free, got " + shown(of) +
        " (--name gives another, --replace replaces it)");
  }
}

std::vector<int32_t> ImportArguments::tokens(const Tokenizer& tokenizer) const {
  if (!tokens_file.empty()) {
    return read_tokens(tokens_file);
  }
  const std::vector<std::string> texts = prompts.read();
  if (texts.size() != 1) {
    throw UserError(
        "expected one text (-p, -f) or --tokens, got " +
        std::to_string(texts.size()) + " texts");
  }
  return tokenizer.encode(
      texts.front(), {.add_special = true, .parse_special = special});
}

void print(const ImportArguments& arguments, const ImportSummary& summary) {
  if (arguments.json) {
    Json json{
        {"space", summary.name.space},
        {"name", summary.name.name},
        {"tokens", summary.tokens.get()},
        {"written_bytes", summary.written.get()},
        {"foreign", nullptr}};
    if (!summary.foreign.empty()) {
      json["foreign"] = {
          {"origin", summary.foreign}, {"least", summary.least.get()}};
    }
    write_out(json_line(json));
    return;
  }
  std::string text = shown(summary.name) + ": " +
      std::to_string(summary.tokens.get()) + " tokens, " +
      shown_bytes(summary.written) + " written";
  if (!summary.foreign.empty()) {
    text += ", foreign bits (go on with --foreign-bits " + shown(summary.name) +
        ")";
  }
  write_out(text + "\n");
}

} // namespace holdfast::app
