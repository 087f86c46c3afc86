// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/engine/perplexity.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
The text is cut into windows of --context tokens, each beginning anew; the
second half of each is scored, as llama-perplexity does.

Examples:
  holdfast eval -m model.gguf -f text.txt
  holdfast eval -m model.gguf -f text.txt --context 2048 --json)";

struct EvalArguments {
  ModelOptions model;
  std::string file;
  int64_t context = 512;
  bool json = false;
};

int run_eval(const EvalArguments& arguments) {
  arguments.model.validate();
  if (arguments.context < 4) {
    throw UserError(
        "--context: expected at least 4, got " +
        std::to_string(arguments.context));
  }
  const std::string text = read_text_file(arguments.file);
  double load_ms = 0;
  const LoadedModel loaded = arguments.model.load(load_ms);
  const auto state = arguments.model.make_state(loaded);
  const auto tokens = loaded.source.tokenizer.encode(text);
  ProgressLine line("scoring");
  const Perplexity result = users([&] {
    return blaming(arguments.model.path, [&] {
      return perplexity(
          *loaded.model,
          *state,
          loaded.source.tokenizer,
          tokens,
          {.window = arguments.context,
           .chunk = arguments.model.chunk,
           .path = loaded.runtime.path,
           .progress = [&](const Perplexity& so_far, int64_t windows) {
             line.update(so_far.windows, windows);
           }});
    });
  });
  line.clear();
  if (arguments.json) {
    write_out(json_line(Json{
        {"ppl", result.ppl},
        {"nll", result.nll},
        {"tokens", result.tokens},
        {"windows", result.windows}}));
  } else {
    char out[160];
    std::snprintf(
        out,
        sizeof out,
        "perplexity %.4f (mean negative log-likelihood %.6f over %lld tokens, "
        "%lld windows)\n",
        result.ppl,
        result.nll,
        static_cast<long long>(result.tokens),
        static_cast<long long>(result.windows));
    write_out(out);
  }
  return kOk;
}

} // namespace

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("eval", "Measure the perplexity of a text");
  const auto arguments = std::make_shared<EvalArguments>();
  arguments->model.add_to(*command);
  command->add_option("-f,--file", arguments->file, "The text")
      ->type_name("FILE")
      ->required();
  add_integer(
      *command,
      "--context",
      arguments->context,
      "Tokens of a window (default 512)");
  command->add_flag(
      "--json", arguments->json, "{ppl, nll, tokens, windows} on one line");
  command->footer(kExamples);
  command->callback([&action, arguments] {
    action = [arguments] { return run_eval(*arguments); };
  });
}

} // namespace holdfast::app
