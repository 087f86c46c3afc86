// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One prompt on its way: what is fed, what was chosen, and the text so far. It
// knows no model and no other sequence.
// Threads: one at a time; different sequences are independent.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/engine/generation.h"
#include "holdfast/engine/sampler.h"
#include "holdfast/engine/stop_filter.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// What all sequences of a call share.
struct SequenceRules {
  const Tokenizer& tokenizer;
  std::span<const int32_t> end_tokens;
  const GenerateOptions& options;
  int64_t context = 0; // positions a row may have
  KernelPath path = KernelPath::kPlain;
};

class Sequence {
 public:
  /// The rules outlive it.
  Sequence(const SequenceRules& rules, std::vector<int32_t> prompt);

  bool prefilling() const {
    return fed_ < prompt_size();
  }
  bool finished() const {
    return finished_;
  }
  /// The tokens to feed next: at most `most` of the prompt, or the last choice.
  std::span<const int32_t> pending(int64_t most) const;
  /// Says that they were fed.
  void advance(int64_t count) {
    fed_ += count;
  }

  /// Chooses the next token from the logits of the last one fed.
  void choose(std::span<const float> logits);
  /// Takes the choice into the text and sees whether the sequence is finished.
  /// Returns the text that became certain.
  std::string accept();
  /// Ends it early. Returns the text that was held back.
  std::string finish(FinishReason reason);

  Generation& result() {
    return result_;
  }

 private:
  int64_t prompt_size() const {
    return static_cast<int64_t>(result_.prompt_ids.size());
  }
  bool ends_text(int32_t token) const;

  const SequenceRules& rules_;
  Sampler sampler_;
  Detokenizer detokenizer_;
  StopFilter stops_;
  Generation result_;
  int64_t fed_ = 0;
  bool finished_ = false;
};

} // namespace holdfast
