// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "holdfast/measure/model_trial.h"
#include "json.h"

namespace holdfast::app {

namespace {

constexpr const char* kExamples = R"(
Random tokens, as llama-bench does: rows that hold --depth tokens already take
a prompt in chunks (logits of its last token only); then other rows of that depth
decode one token a step. Tokens a second are those of all rows together. With
--shared the rows are forks of one, so they hold and read that depth once.

Examples:
  holdfast bench model -m model.gguf --prompt 512 --gen 64
  holdfast bench model -m model.gguf --prompt 0 --gen 32 --depth 8192 --json
  holdfast bench model -m model.gguf --prompt 0 --gen 32 --batch 8 --repeat 5
  holdfast bench model -m model.gguf --prompt 0 --depth 4096 --batch 8 --shared
  holdfast bench model -m model.gguf --prompt 0 --gen 128 --compiled)";

// Each takes a vocabulary of logits in a step: 4 GiB for the largest models'.
constexpr int64_t kMostRows = 4096;

struct BenchArguments {
  ModelOptions model;
  int64_t prompt = 512;
  int64_t generate = 64;
  int64_t depth = 0;
  bool shared = false;
  int64_t batch = 1;
  int64_t repeat = 1;
  bool json = false;

  void validate() const {
    model.validate();
    constexpr int64_t kMost = int64_t{1} << 30;
    require_within("--prompt", prompt, 0, kMost);
    require_within("--gen", generate, prompt == 0 ? 1 : 0, kMost);
    require_within("--depth", depth, 0, kMost);
    require_within("--batch", batch, 1, kMostRows);
    require_within("--repeat", repeat, 1, kMost);
  }
};

struct Rate {
  double mean = 0;
  double deviation = 0;
};

Rate rate(int64_t tokens, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double s : seconds) {
    rates.push_back(static_cast<double>(tokens) / s);
  }
  if (tokens == 0 || rates.empty()) {
    return {};
  }
  const auto n = static_cast<double>(rates.size());
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / n;
  double squares = 0;
  for (const double r : rates) {
    squares += (r - mean) * (r - mean);
  }
  return {mean, n > 1 ? std::sqrt(squares / (n - 1)) : 0};
}

void print(
    const BenchArguments& arguments,
    const LoadedModel& loaded,
    const State& state,
    const Rate& prefill,
    const Rate& decode) {
  const char* path = name(loaded.runtime.path);
  const int threads = loaded.runtime.executor->threads();
  if (arguments.json) {
    write_out(json_line(Json{
        {"model", loaded.model->config().name},
        {"prompt", arguments.prompt},
        {"gen", arguments.generate},
        {"depth", arguments.depth},
        {"shared", arguments.shared},
        {"batch", arguments.batch},
        {"repeat", arguments.repeat},
        {"chunk", arguments.model.chunk},
        {"compiled", arguments.model.compiled},
        {"kv", arguments.model.state.name()},
        {"adapter", arguments.model.adapter},
        {"threads", threads},
        {"kernels", path},
        {"prefill_tok_s", prefill.mean},
        {"prefill_tok_s_stddev", prefill.deviation},
        {"decode_tok_s", decode.mean},
        {"decode_tok_s_stddev", decode.deviation},
        {"state_bytes", state.peak_bytes().get()},
        {"weight_bytes", loaded.model->weight_bytes().get()}}));
    return;
  }
  char out[256];
  std::snprintf(
      out,
      sizeof out,
      "%lld rows at %sdepth %lld, %d threads, %s,%s state ",
      static_cast<long long>(arguments.batch),
      arguments.shared ? "a shared " : "",
      static_cast<long long>(arguments.depth),
      threads,
      path,
      arguments.model.compiled ? " compiled," : "");
  std::string text = out + printable(arguments.model.state.name()) + "\n";
  const auto add = [&](const char* what, int64_t tokens, const Rate& r) {
    if (tokens > 0) {
      std::snprintf(
          out,
          sizeof out,
          "%s %6lld  %9.1f tok/s  +- %.1f\n",
          what,
          static_cast<long long>(tokens),
          r.mean,
          r.deviation);
      text += out;
    }
  };
  add("prefill", arguments.prompt, prefill);
  add("decode ", arguments.generate, decode);
  write_out(text);
}

int run_bench(const BenchArguments& arguments) {
  arguments.validate();
  double load_ms = 0;
  const LoadedModel loaded = arguments.model.load(load_ms);
  const auto state = arguments.model.make_state(loaded);
  const auto compiled = arguments.model.compile(loaded);
  measure::ModelTrial trial(
      compiled ? *compiled : *loaded.model,
      *state,
      {.depth = arguments.depth,
       .rows = arguments.batch,
       .shared = arguments.shared,
       .chunk = arguments.model.chunk});
  // Untimed: memory is touched and threads are awake afterwards.
  if (arguments.prompt > 0) {
    trial.prefill(std::min(arguments.prompt, arguments.model.chunk));
  }
  trial.decode(std::min<int64_t>(arguments.generate, 4));
  std::vector<double> prefill;
  std::vector<double> decode;
  ProgressLine line("measuring");
  for (int64_t i = 0; i < arguments.repeat; ++i) {
    line.update(i, arguments.repeat);
    if (arguments.prompt > 0) {
      prefill.push_back(trial.prefill(arguments.prompt));
    }
    if (arguments.generate > 0) {
      decode.push_back(trial.decode(arguments.generate));
    }
  }
  line.clear();
  print(
      arguments,
      loaded,
      *state,
      rate(arguments.prompt * arguments.batch, prefill),
      rate(arguments.generate * arguments.batch, decode));
  return kOk;
}

} // namespace

void add_bench_model(CLI::App& bench, Action& action) {
  CLI::App* command = bench.add_subcommand("model", "Speed of a model");
  const auto arguments = std::make_shared<BenchArguments>();
  arguments->model.add_to(*command);
  arguments->model.add_compiled_to(*command);
  const auto number =
      [&](const char* name, int64_t& value, const char* description) {
        add_integer(*command, name, value, description);
      };
  number("--prompt", arguments->prompt, "Prompt tokens to time (default 512)");
  number("--gen", arguments->generate, "Decode steps to time (default 64)");
  number(
      "--depth", arguments->depth, "Tokens that are there before (default 0)");
  number("--batch", arguments->batch, "Rows at once (default 1)");
  command->add_flag(
      "--shared", arguments->shared, "Rows share the tokens of --depth");
  number("--repeat", arguments->repeat, "Rounds to average (default 1)");
  command->add_flag("--json", arguments->json, "One object on one line");
  command->footer(kExamples);
  set_action(*command, action, arguments, run_bench);
}

} // namespace holdfast::app
