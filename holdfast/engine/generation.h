// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What generating is asked for and what comes of it, as values. Any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/engine/sampling.h"
#include "holdfast/formats/finish_reason.h"

namespace holdfast {

class ResumableRun;

struct GenerateOptions {
  int64_t max_tokens = 128; // of each prompt
  SamplingOptions sampling;
  std::vector<std::string> stops;
  int64_t chunk = 512; // most prompt tokens in one step
  int64_t context =
      0; // most positions of a row; 0: what the model was made for
  bool ignore_eos = false;
  std::optional<int64_t> logprobs; // how many of the most likely tokens

  /// Throws kInvalidArgument naming the option and what it may be.
  void validate() const;
};

/// What became of one prompt.
struct Generation {
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> ids; // all that were chosen, an end token included
  std::string text; // UTF-8; without end token and stop string
  FinishReason finish_reason = FinishReason::kLength;
  std::vector<TokenLogprobs> logprobs; // one an id, where asked for
  int64_t reused_tokens = 0; // of the prompt, known before
  int64_t reused_from_disk = 0; // of those
  std::string reuse; // why so many and no more; empty without a cache
  int64_t resumed_tokens = 0; // of `ids`, chosen by an interrupted run
  double first_token_ms = 0; // from the call to the first token it chose
  double prefill_tok_s =
      0; // prompt tokens not reused, from the first to the first choice
  double decode_tok_s = 0; // (ids - 1) / time from the first to the last id
};

/// Called on the engine thread.
struct GenerateHooks {
  std::function<void(int64_t index, std::string_view text)> text = {};
  /// Prompt tokens of all prompts.
  std::function<void(int64_t done, int64_t total)> prefill = {};
  /// Set by anybody: the rows end after the step that runs.
  const std::atomic<bool>* interrupted = nullptr;
  /// Where set, a step that throws Error ends the unfinished rows as kFailed;
  /// the error is left here instead of thrown, and the results are returned.
  std::optional<Error>* failure = nullptr;
  /// Where set: the rows go on where an interrupted run of its key was, whose
  /// text is given out first, and are kept in case this one is interrupted. It
  /// is of the generator's cache.
  ResumableRun* resumable = nullptr;
};

} // namespace holdfast
