// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "text_options.h"

#include <random>

#include "errors.h"
#include "holdfast/engine/stop_filter.h"
#include "options.h"

namespace holdfast::app {

namespace {

CLI::Option* add_number(
    CLI::App& command,
    const char* name,
    double& value,
    const char* description) {
  return command.add_option(name, value, description)->type_name("X");
}

/// The default where the option was not given.
template <class T>
void take(const CLI::Option* said, const std::optional<T>& own, T& value) {
  if (own && said->count() == 0) {
    value = *own;
  }
}

} // namespace

void TextOptions::add_sampling(CLI::App& command) {
  SamplingOptions& sampling = generate.sampling;
  said_.temperature = add_number(
      command,
      "--temp",
      sampling.temperature,
      "Temperature; 0: always the most likely token (default 0.8, or the "
      "model folder's)");
  said_.top_k = add_integer(
      command,
      "--top-k",
      sampling.top_k,
      "Keep the N most likely (default 0: all, or the model folder's)");
  said_.top_p = add_number(
      command,
      "--top-p",
      sampling.top_p,
      "Keep the fewest that hold this probability (default 1: all, or the "
      "model folder's)");
  said_.min_p = add_number(
      command,
      "--min-p",
      sampling.min_p,
      "Drop what is less likely than this part of the most likely (default 0, "
      "or the model folder's)");
  said_.repeat_penalty = add_number(
      command,
      "--repeat-penalty",
      sampling.repeat_penalty,
      "Divide the logits of tokens seen by this (default 1: none, or the model "
      "folder's)");
  add_number(
      command,
      "--presence-penalty",
      sampling.presence_penalty,
      "Subtract this from the logits of tokens seen (default 0)");
  add_number(
      command,
      "--frequency-penalty",
      sampling.frequency_penalty,
      "Subtract this for each time a token was seen (default 0)");
}

void TextOptions::add_to(CLI::App& command) {
  add_integer(
      command,
      "-n,--max-tokens",
      generate.max_tokens,
      "Most tokens to generate for each prompt (default " +
          std::to_string(generate.max_tokens) + ")");
  add_sampling(command);
  add_integer(
      command,
      "--seed",
      seed,
      "Of the random choices (default: a new one each time)");
  add_repeated(
      command,
      "--stop",
      generate.stops,
      "End a text before this string; may be repeated");
  add_integer(
      command,
      "--context",
      context,
      "Most tokens of a prompt and its text (default: what the model was made "
      "for)");
  command.add_flag(
      "--ignore-eos", generate.ignore_eos, "Go on where the model would end");
}

void TextOptions::complete(int64_t chunk) {
  generate.chunk = chunk;
  if (context.value_or(1) < 1) {
    throw UserError(
        "--context: expected at least 1, got " + std::to_string(*context));
  }
  generate.context = context.value_or(0);
  users([&] {
    generate.validate();
    StopFilter(generate.stops);
  });
  drawn_seed = !seed;
  // 32 bits: exact in every JSON reader.
  set_seed(seed ? *seed : std::random_device()());
}

void TextOptions::take_defaults(const SamplingDefaults& defaults) {
  SamplingOptions& sampling = generate.sampling;
  take(said_.temperature, defaults.temperature, sampling.temperature);
  take(said_.top_k, defaults.top_k, sampling.top_k);
  take(said_.top_p, defaults.top_p, sampling.top_p);
  take(said_.min_p, defaults.min_p, sampling.min_p);
  take(said_.repeat_penalty, defaults.repeat_penalty, sampling.repeat_penalty);
}

void TextOptions::set_seed(uint64_t value) {
  seed = value;
  generate.sampling.seed = value;
}

} // namespace holdfast::app
