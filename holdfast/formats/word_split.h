// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a stretch of text into the words that merge by themselves: the
// pre-tokenizers of a tokenizer.json. Each step cuts what the last one gave.
// WordSteps is immutable; a WordSplitter is working memory of one thread.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "holdfast/formats/split_pattern.h"

namespace holdfast {

/// What becomes of a match, and of what stands between matches.
enum class SplitBehavior {
  kRemoved, // matches are dropped
  kIsolated, // each is a word
  kMergedWithPrevious, // a match ends the word before it
  kMergedWithNext,
  kContiguous, // neighbouring matches are one word
};

struct WordStep {
  SplitPattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false; // what stands between matches is the match
};

class WordSplitter {
 public:
  using Word = std::function<void(std::string_view)>;

  WordSplitter(const std::vector<WordStep>& steps, PatternMatcher& matcher)
      : steps_(steps), matcher_(matcher) {}

  /// Calls `word` for each, in order; none is empty. `text` is UTF-8.
  void split(std::string_view text, const Word& word) {
    split(text, 0, word);
  }

 private:
  class Joiner;
  void split(std::string_view text, size_t step, const Word& word);

  const std::vector<WordStep>& steps_;
  PatternMatcher& matcher_;
};

} // namespace holdfast
