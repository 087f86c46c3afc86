// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "eval_report.h"
#include "holdfast/engine/divergence.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
The text is cut into windows of --context tokens, each beginning anew; the
second half of each is scored, as llama-perplexity does. A precision other than
--against is compared with it token by token: the divergence of the predicted
distributions, and how often both find the same token most likely.

Examples:
  holdfast eval -m model.gguf -f text.txt
  holdfast eval -m model.gguf -f text.txt --context 2048 --json
  holdfast eval -m model.gguf -f text.txt --kv q8
  holdfast eval -m model.gguf -f text.txt --kv q4 --kv t4 --kv q8/t3 --json
  holdfast eval -m model.gguf -f text.txt --kv q4@256 --against q4)";

struct EvalArguments {
  ModelOptions model;
  std::vector<std::string> kv; // as given; empty: the usual one
  std::string against; // empty: bf16, where that is another
  std::string file;
  int64_t context = 512;
  bool json = false;

  /// The states to measure. Throws UserError.
  std::vector<EvalChoice> choices() const;
  /// What they are compared with; none where the one choice is that.
  std::optional<EvalChoice>
  reference(const std::vector<EvalChoice>& choices) const;
};

std::vector<EvalChoice> EvalArguments::choices() const {
  std::vector<EvalChoice> choices;
  for (const std::string& name : kv) {
    choices.push_back({name, model.state});
    choices.back().state.kv = name;
  }
  if (!model.state.kv_config.empty() && choices.size() > 1) {
    throw UserError("--kv-config: expected one --kv at most beside it");
  }
  if (choices.empty()) {
    choices.push_back({model.state.kv, model.state});
  }
  if (!model.state.kv_config.empty()) {
    choices[0].name = model.state.kv_config;
  }
  return choices;
}

std::optional<EvalChoice>
EvalArguments::reference(const std::vector<EvalChoice>& choices) const {
  EvalChoice reference{against.empty() ? "bf16" : against, model.state};
  reference.state.kv = reference.name;
  reference.state.kv_config.clear();
  const KvPolicy policy = users([&] { return reference.state.policy(); });
  for (const EvalChoice& choice : choices) {
    const KvPolicy other = users([&] { return choice.state.policy(); });
    if (choice.state.kv_config.empty() && other.usual == policy.usual) {
      if (against.empty() && choices.size() == 1) {
        return std::nullopt;
      }
      throw UserError(
          "--kv " + choice.name +
          ": expected another precision than --against " + reference.name);
    }
  }
  return reference;
}

/// States over one model, the first of them `reference` where there is one.
EvalReport measure(const EvalArguments& arguments, const std::string& text) {
  EvalReport report;
  report.choices = arguments.choices();
  report.reference = arguments.reference(report.choices);
  double load_ms = 0;
  const LoadedModel loaded = arguments.model.load(load_ms);
  const auto state_of = [&](EvalChoice& choice) {
    choice.state.max_bytes = Bytes(arguments.model.max_state_bytes.value_or(0));
    auto state = users([&] { return make_state(loaded, choice.state); });
    choice.bytes_per_token = state->bytes_per_token().get();
    return state;
  };
  std::vector<std::unique_ptr<State>> states;
  std::vector<State*> compared;
  for (EvalChoice& choice : report.choices) {
    compared.push_back(states.emplace_back(state_of(choice)).get());
  }
  const Tokenizer& tokenizer = loaded.source.tokenizer;
  const auto tokens = tokenizer.encode(text);
  ProgressLine line("scoring");
  const PerplexityOptions options{
      .window = arguments.context,
      .chunk = arguments.model.chunk,
      .path = loaded.runtime.path,
      .progress = [&](int64_t done, int64_t windows) {
        line.update(done, windows);
      }};
  users([&] {
    blaming(arguments.model.path, [&] {
      if (!report.reference) {
        report.quality.states = {
            {perplexity(
                 *loaded.model, *compared[0], tokenizer, tokens, options),
             {}}};
        return;
      }
      const auto reference = state_of(*report.reference);
      report.quality = compare_states(
          *loaded.model,
          *reference,
          compared,
          options.text(tokenizer, tokens),
          {.path = options.path, .progress = options.progress});
    });
  });
  return report;
}

int run_eval(const EvalArguments& arguments) {
  arguments.model.validate();
  if (arguments.context < 4) {
    throw UserError(
        "--context: expected at least 4, got " +
        std::to_string(arguments.context));
  }
  arguments.reference(arguments.choices());
  const std::string text = read_text_file(arguments.file);
  const EvalReport report = measure(arguments, text);
  write_out(arguments.json ? report.json() : report.table());
  return kOk;
}

} // namespace

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("eval", "Measure the perplexity of a text");
  const auto arguments = std::make_shared<EvalArguments>();
  arguments->model.add_to(*command);
  CLI::Option* kv = command->get_option("--kv");
  kv->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  kv->description(kv->get_description() + "; may be repeated");
  not_empty(command->add_option(
                "--against",
                arguments->against,
                "Precision to compare with (default bf16)"))
      ->type_name("NAME");
  not_empty(command->add_option("-f,--file", arguments->file, "The text"))
      ->type_name("FILE")
      ->required();
  add_integer(
      *command,
      "--context",
      arguments->context,
      "Tokens of a window (default 512)");
  command->add_flag(
      "--json", arguments->json, "One object a line for each --kv");
  command->footer(kExamples);
  command->callback([&action, arguments, kv] {
    arguments->kv = kv->results();
    action = [arguments] { return run_eval(*arguments); };
  });
}

} // namespace holdfast::app
