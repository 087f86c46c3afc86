// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// `holdfast state why`: what a prompt would begin with, and why no more.

#include <memory>
#include <string>

#include "commands.h"
#include "console.h"
#include "holdfast/prefix/prefix_cache.h"
#include "json.h"
#include "model_digest.h"
#include "state_target.h"

namespace holdfast::app {

namespace {

struct WhyArguments : StateTarget {
  ModelOptions model;
  PromptOptions prompts;
  bool special = false;
};

Json why_json(const Why& why) {
  return {
      {"prompt_tokens", why.asked.get()},
      {"known_tokens", why.matched.get()},
      {"reused_tokens", why.usable.get()},
      {"reused_from_disk", why.from_disk.get()},
      {"reuse", why.line()}};
}

int run_why(const WhyArguments& arguments) {
  ModelOptions model = arguments.model;
  model.validate();
  const std::string folder = arguments.path();
  const std::vector<std::string> texts = arguments.prompts.read();
  double load_ms = 0;
  const LoadedModel loaded = model.load(load_ms);
  model.state.weights = model_digest(folder, loaded.source.parts);
  const auto state = model.make_state(loaded);
  PrefixCacheOptions options;
  options.disk = arguments.open();
  const PrefixCache cache(*state, std::move(options));
  for (const std::string& text : texts) {
    const auto tokens = loaded.source.tokenizer.encode(
        text, {.add_special = true, .parse_special = arguments.special});
    const Why why = cache.why({tokens});
    write_out(arguments.json ? json_line(why_json(why)) : why.line() + "\n");
  }
  return 0;
}

constexpr const char* kExamples = R"(
The options of the model are those of generate: another --kv is other state.

Examples:
  holdfast state why -m model.gguf -p "The capital of France is"
  holdfast state why -m model.gguf -f story.txt --kv q8 --json)";

} // namespace

void add_state_why(CLI::App& state, Action& action) {
  CLI::App* verb = state.add_subcommand(
      "why", "Say how much of a prompt is known, and why no more");
  const auto arguments = std::make_shared<WhyArguments>();
  arguments->model.add_to(*verb);
  arguments->prompts.add_to(*verb);
  arguments->add_to(*verb);
  verb->add_flag(
      "--special",
      arguments->special,
      "Control tokens in the prompt are read as those tokens, not as text");
  verb->footer(kExamples);
  set_action(*verb, action, arguments, run_why);
}

} // namespace holdfast::app
