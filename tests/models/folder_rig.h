// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model of tests/data/models with a state of its own, and what mlx-lm says of
// it (tests/oracle/small_models.py). One thread.

#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mlx/mlx.h"

#include "holdfast/engine/adapted_weights.h"
#include "holdfast/engine/folder_weights.h"
#include "holdfast/models/model.h"
#include "holdfast/state/state.h"
#include "tests/models/rounded_source.h"

namespace holdfast::test {

namespace mx = mlx::core;

/// Of a name below tests/data/models, or a folder's own path.
inline std::string model_folder(const std::string& name) {
  if (name.starts_with('/')) {
    return name;
  }
  return std::string(HOLDFAST_TEST_DATA "/models/").append(name);
}

/// The folders below tests/data/models.
inline constexpr const char* kFamilies[] = {
    "qwen35",
    "gemma4",
    "gemma4_wide",
    "latent",
    "llama",
    "llama_biased",
    "mistral",
    "qwen2",
    "qwen3",
    "phi3",
    "gemma2",
    "gemma3_text",
    "qwen3_moe",
    "gpt_oss"};

struct Expected {
  std::vector<int32_t> tokens;
  std::vector<float> logits; // [tokens, vocab]
  std::vector<int32_t> greedy; // what follows the first kGreedyPrompt tokens
};
inline constexpr int64_t kGreedyPrompt = 20;

inline Expected expected_of(const std::string& name) {
  auto loaded =
      mx::load_safetensors(model_folder(name) + "/expected/logits.safetensors")
          .first;
  const auto values = [&]<class T>(const char* key, T) {
    auto array = loaded.at(key);
    mx::eval({array});
    return std::vector<T>(array.data<T>(), array.data<T>() + array.size());
  };
  return {
      values("tokens", int32_t{}),
      values("logits", float{}),
      values("greedy", int32_t{})};
}

/// What mlx-lm computes in float32 over the weights rounded to bf16.
inline std::vector<float> expected_of_bf16(const std::string& name) {
  auto loaded =
      mx::load_safetensors(model_folder(name) + "/expected/bf16.safetensors")
          .first;
  auto logits = loaded.at("logits");
  mx::eval({logits});
  return {logits.data<float>(), logits.data<float>() + logits.size()};
}

struct RigChoice {
  std::string codec = "f32";
  int threads = 2;
  KernelPath path = best_kernel_path();
  bool reference = false;
  int64_t keep_every = 0; // StateOptions::recurrent_keep_every
  std::vector<Signature::Field> identity = {};
  bool rounded = false; // weights to bf16
  std::string adapter = {}; // a folder; empty: none
};

/// The model of a source, with what is chosen around it.
inline std::unique_ptr<Model> make_chosen_model(
    const WeightSource& source,
    const RigChoice& choice,
    const Runtime& runtime) {
  const RoundedSource rounded(source, *runtime.executor);
  const WeightSource& weights = choice.rounded ? rounded : source;
  if (choice.adapter.empty()) {
    return make_model(weights, runtime);
  }
  const Adapter adapter(choice.adapter);
  const AdaptedWeights adapted(weights, adapter, runtime.executor);
  auto model = make_model(adapted, runtime);
  adapted.require_all_used();
  return model;
}

class FolderRig {
 public:
  explicit FolderRig(const std::string& name, const RigChoice& choice = {})
      : runtime{std::make_shared<Executor>(choice.threads), choice.path},
        source(std::make_unique<FolderWeights>(
            model_folder(name),
            runtime.executor)),
        model(make_chosen_model(*source, choice, runtime)),
        state(StateOptions{
            .layers = model->layers(),
            .precision =
                {.phases = always(
                     find_codec(choice.codec).value(),
                     find_codec(choice.codec).value())},
            .runtime = runtime,
            .reference_read = choice.reference,
            .recurrent_keep_every = choice.keep_every,
            .identity = choice.identity}) {}

  int64_t vocab() const {
    return model->config().vocab;
  }

  // Logits of all tokens of the rows, in order; keeps accepted[i] of each row,
  // all where it is empty.
  std::vector<float> step(
      const std::vector<RowAppend>& rows,
      const std::vector<int32_t>& tokens,
      const std::vector<int64_t>& accepted = {}) {
    std::vector<int32_t> outputs(tokens.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = static_cast<int32_t>(i);
    }
    Step step = state.begin(rows);
    auto logits = *model->forward(step, tokens, outputs);
    mx::eval({logits});
    if (accepted.empty()) {
      step.commit_all();
    } else {
      step.commit(accepted);
    }
    return {logits.data<float>(), logits.data<float>() + logits.size()};
  }

  // Appends tokens [from, end) to a row, in chunks.
  std::vector<float> append(
      RowId row,
      const std::vector<int32_t>& tokens,
      int64_t from,
      int64_t chunk) {
    std::vector<float> all;
    for (int64_t done = from; done < std::ssize(tokens);) {
      const int64_t count = std::min(chunk, std::ssize(tokens) - done);
      const auto part = step(
          {{row, count}},
          {tokens.begin() + done, tokens.begin() + done + count});
      all.insert(all.end(), part.begin(), part.end());
      done += count;
    }
    return all;
  }

  std::vector<float> alone(const std::vector<int32_t>& tokens, int64_t chunk) {
    const RowId row = state.add_row();
    auto all = append(row, tokens, 0, chunk);
    state.remove_row(row);
    return all;
  }

  Runtime runtime;
  std::unique_ptr<WeightSource> source;
  std::unique_ptr<Model> model;
  State state;
};

inline bool
same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace holdfast::test
