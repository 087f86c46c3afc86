// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tiny model, loaded once, and states over it. One thread.

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/engine/generate.h"
#include "holdfast/engine/load.h"
#include "tests/engine/tiny_model.h"

namespace holdfast::test {

/// The tiny model on a team of `threads`.
inline LoadedModel load_tiny(int threads) {
  const TemporaryFile file("engine_tiny.gguf", TinyModel().bytes());
  return load_model(
      file.path(), {std::make_shared<Executor>(threads), best_kernel_path()});
}

inline const LoadedModel& tiny() {
  static const LoadedModel model = load_tiny(1);
  return model;
}

inline std::vector<std::vector<int32_t>>
encode(const std::vector<std::string>& texts) {
  std::vector<std::vector<int32_t>> prompts;
  for (const std::string& text : texts) {
    prompts.push_back(tiny().source.tokenizer.encode(text));
  }
  return prompts;
}

/// A state of its own, and a generator over it.
struct Session {
  const LoadedModel& loaded;
  std::unique_ptr<State> state;
  Generator generator;

  explicit Session(
      const LoadedModel& model = tiny(),
      const StateChoice& choice = {})
      : loaded(model),
        state(make_state(model, choice)),
        generator{
            *model.model,
            model.source.tokenizer,
            model.source.end_tokens,
            *state,
            model.runtime} {}

  std::vector<Generation>
  run(const std::vector<std::string>& texts,
      const GenerateOptions& options,
      const GenerateHooks& hooks = {}) {
    return generator.run(encode(texts), options, hooks);
  }
};

/// The ids and the exact log-probabilities: equal only where the logits are.
inline std::vector<std::pair<int32_t, double>> trace(const Generation& result) {
  std::vector<std::pair<int32_t, double>> steps;
  for (const TokenLogprobs& token : result.logprobs) {
    steps.emplace_back(token.chosen.id, token.chosen.logprob);
    for (const TokenLogprob& other : token.top) {
      steps.emplace_back(other.id, other.logprob);
    }
  }
  return steps;
}

} // namespace holdfast::test
