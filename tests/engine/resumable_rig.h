// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Processes that generate under a key over one folder in memory, and die at a
// step of a test's choice. One thread.

#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/engine/folder_weights.h"
#include "holdfast/engine/resumable_run.h"
#include "holdfast/env/memory_file_system.h"
#include "tests/engine/engine_support.h"

namespace holdfast::test {

/// Its death, which nothing in the engine catches.
struct Died : std::runtime_error {
  Died() : std::runtime_error("died") {}
};

/// Time goes on by a millisecond each time that it is asked for, which a
/// resumable run does once a step; the process dies at one of these.
class StepClock : public Clock {
 public:
  explicit StepClock(int64_t dies_at = -1) : dies_at_(dies_at) {}
  Moment now() const override {
    if (steps_++ == dies_at_) {
      throw Died();
    }
    return Moment(std::chrono::milliseconds(steps_));
  }
  int64_t wall_ns() const override {
    return 1'700'000'000'000'000'000;
  }
  void wait_until(
      std::unique_lock<std::mutex>&,
      std::condition_variable&,
      Moment) override {}
  int64_t steps() const {
    return steps_;
  }

 private:
  const int64_t dies_at_;
  mutable int64_t steps_ = 0;
};

/// A model whose logits are those of another, and of rows behind them that
/// would win every choice.
class PaddedModel : public Model {
 public:
  /// `model` outlives it.
  PaddedModel(const Model& model, int64_t vocab)
      : model_(model), config_(model.config()) {
    config_.vocab = vocab;
  }
  const ModelConfig& config() const override {
    return config_;
  }
  std::vector<LayerSpec> layers() const override {
    return model_.layers();
  }
  Bytes weight_bytes() const override {
    return model_.weight_bytes();
  }
  std::optional<mlx::core::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override {
    namespace mx = mlx::core;
    auto logits = model_.forward(step, tokens, outputs);
    if (!logits) {
      return logits;
    }
    const auto stream = step.stream();
    const auto rest = mx::full(
        {logits->shape(0), static_cast<int>(config_.vocab) - logits->shape(1)},
        1e30f,
        mx::float32,
        stream);
    return mx::contiguous(
        mx::concatenate({*logits, rest}, 1, stream), false, stream);
  }

 private:
  const Model& model_;
  ModelConfig config_;
};

/// What a test generates.
struct Request {
  std::vector<std::string> texts = {
      "the hello the hello bcd the quick brown fox and the lazy dog, twice "
      "over; the window is long past by now, and so are two blocks of it"};
  GenerateOptions options;
  StateChoice choice;
  std::string key = "k";
  std::string folder = "/state";
  int64_t every_tokens = 5;
  const Model* model = nullptr; // none: the tiny one

  Request() {
    options.max_tokens = 40;
    options.chunk = 48;
    options.sampling.temperature = 0.9;
    options.sampling.seed = 4;
    options.sampling.repeat_penalty = 1.1;
    options.ignore_eos = true;
    options.logprobs = 2;
  }
};

using Files = std::shared_ptr<FileSystem>;

/// One process: a state, and a cache over the folder.
class Process {
 public:
  Process(const Request& request, const Files& files)
      : request_(request),
        model_(request.model ? *request.model : *tiny().model),
        state_(make_state_of(request)) {
    PrefixCacheOptions options;
    options.disk =
        DiskTier::open(
            {.folder = request.folder, .files = files, .clock = system_clock()})
            .value();
    cache_ = std::make_unique<PrefixCache>(*state_, std::move(options));
  }

  PrefixCache& cache() {
    return *cache_;
  }
  Generator generator() {
    return {
        model_,
        tiny().source.tokenizer,
        tiny().source.end_tokens,
        *state_,
        tiny().runtime,
        cache_.get()};
  }
  std::unique_ptr<ResumableRun> begin(std::shared_ptr<Clock> clock) {
    return std::make_unique<ResumableRun>(
        *cache_,
        ResumableOptions{
            .key = request_.key,
            .every_tokens = request_.every_tokens,
            .clock = std::move(clock)});
  }
  std::vector<Generation>
  run(ResumableRun* resumable, GenerateHooks hooks = {}) {
    hooks.resumable = resumable;
    return generator().run(encode(request_.texts), request_.options, hooks);
  }
  /// Dies at that step, or runs to its end. Completes nothing.
  std::optional<std::vector<Generation>> run_until(int64_t dies_at) {
    const auto run_under = begin(std::make_shared<StepClock>(dies_at));
    std::optional<std::vector<Generation>> results;
    try {
      results = run(run_under.get());
    } catch (const Died&) {
    }
    run_under->flush();
    return results;
  }

 private:
  static std::unique_ptr<State> make_state_of(const Request& request) {
    if (!request.model) {
      return make_state(tiny(), request.choice);
    }
    const Codec* codec = find_codec(request.choice.kv).value();
    return std::make_unique<State>(StateOptions{
        .layers = request.model->layers(),
        .precision = {.phases = always(codec, codec)},
        .runtime = tiny().runtime});
  }

  const Request& request_;
  const Model& model_;
  std::unique_ptr<State> state_;
  std::unique_ptr<PrefixCache> cache_;
};

inline void expect_same(
    const std::vector<Generation>& got,
    const std::vector<Generation>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].ids, expected[i].ids);
    EXPECT_EQ(got[i].text, expected[i].text);
    EXPECT_EQ(trace(got[i]), trace(expected[i]));
    EXPECT_EQ(got[i].finish_reason, expected[i].finish_reason);
  }
}

inline std::vector<Generation> uninterrupted(const Request& request) {
  return Process(request, MemoryFileSystem::make()).run(nullptr);
}

} // namespace holdfast::test
