// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One prompt on its way: what is fed, what was chosen, and the text so far. It
// knows no model and no other sequence.
//
// Whatever it knows follows from its rules, its prompt and what was chosen, so
// a captured one is made again by taking the same choices once more.
// Threads: one at a time; different sequences are independent.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/engine/generation.h"
#include "holdfast/engine/sampler.h"
#include "holdfast/engine/stop_filter.h"
#include "holdfast/formats/resume_point.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// What all sequences of a call share.
struct SequenceRules {
  const Tokenizer& tokenizer;
  std::span<const int32_t> end_tokens;
  const GenerateOptions& options;
  int64_t context = 0; // positions a row may have
  KernelPath path = KernelPath::kPlain;
  int64_t table = 0; // rows of the model's; 0: one a piece of the tokenizer

  /// Tokens that may be chosen: those of which there are a row and a piece. A
  /// table has rows behind the last piece to be of a round size, and a
  /// tokenizer pieces of images that a text's model has no rows of.
  int64_t choices() const {
    return table > 0 ? std::min(table, tokenizer.size()) : tokenizer.size();
  }
};

class Sequence {
 public:
  /// The rules outlive it.
  Sequence(const SequenceRules& rules, std::vector<int32_t> prompt);

  /// Goes on where a captured one was, before anything is fed: what it had
  /// chosen counts as chosen, nothing as fed. Throws kCorrupt where these
  /// choices give another text, or are not of this prompt and these rules.
  void restore(const ResumeRow& row);
  /// As of the last accept(): what was chosen and not accepted is left out.
  ResumeRow capture() const;

  /// Tokens to feed before the next choice.
  int64_t ahead() const {
    return size() - fed_;
  }
  /// Of these, all but the last choice: what chunks take.
  int64_t to_prefill() const {
    return ahead() - (result_.ids.empty() ? 0 : 1);
  }
  bool prefilling() const {
    return to_prefill() > 0;
  }
  bool finished() const {
    return finished_;
  }
  /// The tokens to feed next, at most `most` >= 1, and not prompt and choices
  /// at once.
  std::span<const int32_t> pending(int64_t most) const;
  /// All tokens, in order: what a row must know to choose the next.
  std::vector<int32_t> tokens() const;
  /// Says that they were fed; less than 0: that the last ones were not.
  void advance(int64_t count) {
    fed_ += count;
  }
  /// Says that nothing was fed.
  void begin_anew() {
    fed_ = 0;
  }

  /// Chooses the next token from the logits of the last one fed. What there is
  /// no piece for is left out of them.
  void choose(std::span<const float> all);
  /// Takes the choice into the text and sees whether the sequence is finished.
  /// Returns the text that became certain.
  std::string accept();
  /// Ends it early. Returns the text that was held back.
  std::string finish(FinishReason reason);

  Generation& result() {
    return result_;
  }

 private:
  int64_t size() const {
    return std::ssize(result_.prompt_ids) + std::ssize(result_.ids);
  }
  void take(int32_t token);
  std::string held() const;
  bool ends_text(int32_t token) const;

  const SequenceRules& rules_;
  Sampler sampler_;
  Detokenizer detokenizer_;
  StopFilter stops_;
  Generation result_;
  int64_t fed_ = 0;
  int64_t accepted_ = 0; // of the ids
  bool finished_ = false;
};

} // namespace holdfast
