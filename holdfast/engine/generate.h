// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Prompts in, texts out: all prompts as one ragged batch over one state. The
// prompts are fed in chunks, several to a chunk where they fit; then every step
// feeds one token of each row until all are finished. A row leaves the state
// when it is finished.
//
// Invariant: a row's tokens depend on its prompt and the options alone, not on
// its neighbours, the chunk, or the number of threads.
// Threads: the state's engine thread.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "holdfast/engine/generation.h"
#include "holdfast/env/runtime.h"
#include "holdfast/formats/tokenizer.h"
#include "holdfast/models/model.h"
#include "holdfast/prefix/prefix_cache.h"
#include "holdfast/state/state.h"

namespace holdfast {

/// Where the tokens come from. All outlive the call.
struct Generator {
  const Model& model;
  const Tokenizer& tokenizer;
  std::span<const int32_t> end_tokens;
  State& state;
  Runtime runtime;
  /// Of that state: rows begin with what it knows, and it gets what they
  /// compute. Null: every prompt is computed.
  PrefixCache* cache = nullptr;
  /// The name of the model's file, kept with the texts.
  std::string model_name = {};
  /// Where false, texts are no records of the cache: their state alone is kept.
  bool keeps_texts = true;

  /// One result a prompt (of token ids), in order. Throws kInvalidArgument on
  /// options out of range, a prompt that is empty or longer than the context,
  /// before anything runs; kOutOfBudget where the state's budget ends (see
  /// GenerateHooks::failure). The rows
  /// it added are gone afterwards, whatever happens.
  std::vector<Generation>
  run(std::vector<std::vector<int32_t>> prompts,
      const GenerateOptions& options,
      const GenerateHooks& hooks = {});
};

} // namespace holdfast
