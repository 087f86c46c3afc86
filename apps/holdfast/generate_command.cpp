// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "console.h"
#include "errors.h"
#include "generate_options.h"
#include "generation_json.h"
#include "holdfast/engine/generate.h"
#include "interrupt.h"
#include "json.h"
#include "running_model.h"
#include "state_end.h"

namespace holdfast::app {

namespace {

/// What all results of a call share.
struct RunFacts {
  double load_ms = 0;
  int64_t state_bytes = 0; // peak
  std::optional<Error> failure = {}; // what ended the texts early
};

Json logprobs_json(const std::vector<TokenLogprobs>& tokens) {
  const auto pair = [](const TokenLogprob& token) {
    return Json{{"id", token.id}, {"logprob", token.logprob}};
  };
  Json list = Json::array();
  for (const TokenLogprobs& token : tokens) {
    Json entry = pair(token.chosen);
    entry["top"] = Json::array();
    for (const TokenLogprob& other : token.top) {
      entry["top"].push_back(pair(other));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Json result_json(
    const GenerateArguments& arguments,
    const RunFacts& facts,
    int64_t index,
    const Generation& result) {
  Json json{
      {"index", index},
      {"prompt_ids", result.prompt_ids},
      {"load_ms", facts.load_ms},
      {"state_bytes", facts.state_bytes},
      {"kv", arguments.model.state.name()},
      {"seed", *arguments.seed}};
  add_generation(json, result);
  if (arguments.generate.logprobs) {
    json["logprobs"] = logprobs_json(result.logprobs);
  }
  return json;
}

/// Streams the first unfinished prompt's text; keeps the others' until it is
/// their turn.
class TextOutput {
 public:
  explicit TextOutput(size_t prompts) : waiting_(prompts) {}

  void add(size_t index, std::string_view text) {
    if (index == 0) {
      write_out(text);
    } else {
      waiting_[index] += text;
    }
  }
  /// A text ends with a line's end, and an empty line parts it from the next.
  void finish(const std::vector<Generation>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      const bool ended = results[i].text.ends_with('\n');
      write_out((i == 0 ? "" : "\n") + waiting_[i] + (ended ? "" : "\n"));
    }
  }

 private:
  std::vector<std::string> waiting_;
};

void print_summary(
    const std::vector<Generation>& results,
    const RunFacts& facts,
    const GenerateArguments& arguments) {
  size_t prompt = 0;
  int64_t reused = 0;
  int64_t from_disk = 0;
  size_t generated = 0;
  double first_ms = 0;
  double prefill = 0;
  double decode = 0;
  for (const Generation& result : results) {
    prompt += result.prompt_ids.size();
    reused += result.reused_tokens;
    from_disk += result.reused_from_disk;
    generated += result.ids.size();
    first_ms = std::max(first_ms, result.first_token_ms);
    prefill = std::max(prefill, result.prefill_tok_s);
    decode += result.decode_tok_s;
  }
  const std::string known = arguments.folder.kept()
      ? " (" + reused_text(reused, from_disk) + ")"
      : "";
  std::fprintf(
      stderr,
      "%zu prompt tokens%s at %.0f tok/s, %zu generated at %.1f "
      "tok/s, loaded "
      "in %.2f s, first token after %.2f s, state %.1f MB (%s), seed %llu\n",
      prompt,
      known.c_str(),
      prefill,
      generated,
      decode,
      facts.load_ms / 1e3,
      first_ms / 1e3,
      static_cast<double>(facts.state_bytes) / 1e6,
      printable(arguments.model.state.name()).c_str(),
      static_cast<unsigned long long>(*arguments.seed));
}

std::vector<std::vector<int32_t>> encode(
    const Tokenizer& tokenizer,
    const std::vector<std::string>& texts,
    bool special) {
  std::vector<std::vector<int32_t>> prompts;
  for (const std::string& text : texts) {
    prompts.push_back(tokenizer.encode(
        text, {.add_special = true, .parse_special = special}));
  }
  return prompts;
}

/// False where the rest of a text is left to compute.
bool is_whole(const std::vector<Generation>& results) {
  return std::ranges::none_of(results, [](const Generation& result) {
    return result.finish_reason == FinishReason::kInterrupted ||
        result.finish_reason == FinishReason::kFailed;
  });
}

/// A model that runs, and the run that it goes on with, if any.
struct Engine {
  std::unique_ptr<RunningModel> model;
  std::unique_ptr<ResumableRun> resumable = nullptr; // of the model's cache
};

Engine make_engine(GenerateArguments& arguments, RunFacts& facts) {
  // All prompts of a run begin at once: without a folder nothing is known.
  Engine engine{
      .model = start_model(
          arguments.model,
          arguments.folder,
          WithoutFolder::kNothing,
          facts.load_ms)};
  arguments.take_defaults(engine.model->loaded.source.sampling);
  auto& cache = engine.model->cache;
  engine.resumable = arguments.resume.begin(cache ? &*cache : nullptr);
  if (arguments.drawn_seed && engine.resumable && engine.resumable->seed()) {
    arguments.set_seed(*engine.resumable->seed());
  }
  if (arguments.verbose) {
    print_running(*engine.model);
  }
  return engine;
}

/// Runs the prompts and gives out their texts.
std::vector<Generation> give_texts(
    const GenerateArguments& arguments,
    const Engine& engine,
    const std::vector<std::string>& texts,
    const InterruptFlag& interrupt,
    RunFacts& facts) {
  TextOutput output(texts.size());
  ProgressLine line("reading the prompt");
  GenerateHooks hooks{
      .text =
          [&](int64_t index, std::string_view text) {
            line.clear();
            output.add(static_cast<size_t>(index), text);
          },
      .prefill = [&](int64_t done, int64_t total) { line.update(done, total); },
      .interrupted = &interrupt.raised(),
      .failure = &facts.failure,
      .resumable = engine.resumable.get()};
  if (arguments.json) {
    hooks.text = nullptr;
  }
  const auto results = users([&] {
    auto prompts =
        encode(engine.model->loaded.source.tokenizer, texts, arguments.special);
    return blaming(arguments.model.path, [&] {
      return engine.model->generator().run(
          std::move(prompts), arguments.generate, hooks);
    });
  });
  line.clear();
  facts.state_bytes = engine.model->state->peak_bytes().get();
  if (arguments.json) {
    for (size_t i = 0; i < results.size(); ++i) {
      write_out(json_line(
          result_json(arguments, facts, static_cast<int64_t>(i), results[i])));
    }
  } else {
    output.finish(results);
  }
  return results;
}

/// All but the end of what is kept.
void generate(
    const GenerateArguments& arguments,
    const Engine& engine,
    const std::vector<std::string>& texts,
    const InterruptFlag& interrupt,
    RunFacts& facts) {
  const auto results = give_texts(arguments, engine, texts, interrupt, facts);
  if (engine.resumable) {
    const bool whole = is_whole(results);
    arguments.resume.end(*engine.resumable, whole);
  }
  if (facts.failure) {
    blaming(arguments.model.path, [&] { throw *facts.failure; });
  }
  print_summary(results, facts, arguments);
  if (arguments.verbose && engine.model->compiled) {
    std::fprintf(
        stderr,
        "%lld graphs of steps recorded\n",
        static_cast<long long>(engine.model->compiled->traces()));
  }
  if (arguments.verbose && engine.model->cache) {
    std::fprintf(stderr, "%s\n", engine.model->cache->stats().line().c_str());
  }
}

int run_generate(GenerateArguments& arguments) {
  arguments.complete();
  const std::vector<std::string> texts = arguments.prompts.read();
  const InterruptFlag interrupt;
  RunFacts facts;
  const Engine engine = make_engine(arguments, facts);
  auto& cache = engine.model->cache;
  return with_state_kept(cache ? &*cache : nullptr, [&] {
    generate(arguments, engine, texts, interrupt, facts);
    return interrupt.exit_code();
  });
}

constexpr const char* kExamples = R"(
Without -p and -f the prompt is read from standard input. Text goes to standard
output, everything else to standard error.

Examples:
  holdfast generate -m model.gguf -p "The capital of France is" -n 32 --temp 0
  holdfast generate -m model.gguf -p "One" -p "Two" --json
  holdfast generate -m model.gguf -f story.txt --top-p 0.95 --seed 7
  holdfast generate -m model.gguf -f long.txt -n 4096 --state DIR --id report
  printf 'def add(a, b):' | holdfast generate -m model.gguf --stop END)";

} // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("generate", "Continue prompts with a model");
  set_command<GenerateArguments>(*command, action, kExamples, run_generate);
}

} // namespace holdfast::app
