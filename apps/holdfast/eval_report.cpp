// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "eval_report.h"

#include <algorithm>
#include <cstdio>

#include "json.h"

namespace holdfast::app {

namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

/// The start of a line of the table.
std::string
start_of_line(const EvalChoice& choice, const Perplexity& found, size_t width) {
  std::string name = choice.name;
  name.resize(std::max(width, name.size()), ' ');
  return name +
      print("  %11lld  %10.4f",
            static_cast<long long>(choice.bytes_per_token),
            found.ppl);
}

} // namespace

std::string EvalReport::json() const {
  std::string lines;
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto& [found, divergence] = quality.states[i];
    Json json{
        {"ppl", found.ppl},
        {"nll", found.nll},
        {"tokens", found.tokens},
        {"windows", found.windows},
        {"kv", choices[i].name},
        {"bytes_per_token", choices[i].bytes_per_token}};
    if (reference) {
      json["kl"] = {
          {"mean", divergence.mean},
          {"p999", divergence.p999},
          {"max", divergence.max}};
      json["top1"] = divergence.same_top;
      json["against"] = {
          {"kv", reference->name},
          {"ppl", quality.reference.ppl},
          {"nll", quality.reference.nll},
          {"bytes_per_token", reference->bytes_per_token}};
    }
    lines += json_line(json);
  }
  return lines;
}

std::string EvalReport::table() const {
  const Perplexity& first = quality.states[0].perplexity;
  if (!reference) {
    return print(
        "perplexity %.4f (mean negative log-likelihood %.6f over %lld tokens, "
        "%lld windows)\n",
        first.ppl,
        first.nll,
        static_cast<long long>(first.tokens),
        static_cast<long long>(first.windows));
  }
  size_t width = reference->name.size();
  for (const EvalChoice& choice : choices) {
    width = std::max(width, choice.name.size());
  }
  std::string text = print(
      "%lld tokens, %lld windows; divergence from ",
      static_cast<long long>(first.tokens),
      static_cast<long long>(first.windows));
  text += reference->name + " in nats\n";
  text += std::string(width, ' ') +
      "  bytes/token  perplexity  mean       99.9 %     largest    same top\n";
  text += start_of_line(*reference, quality.reference, width) + "\n";
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto& [found, divergence] = quality.states[i];
    text += start_of_line(choices[i], found, width) +
        print("  %-9.3g  %-9.3g  %-9.3g  %.2f %%\n",
              divergence.mean,
              divergence.p999,
              divergence.max,
              100 * divergence.same_top);
  }
  return text;
}

} // namespace holdfast::app
