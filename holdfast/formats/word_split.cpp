// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/word_split.h"

#include "holdfast/base/check.h"

namespace holdfast {

/// Takes matches and what stands between them, in order, and gives words.
class WordSplitter::Joiner {
 public:
  Joiner(
      WordSplitter& splitter,
      std::string_view text,
      size_t step,
      const Word& word)
      : splitter_(splitter),
        text_(text),
        step_(step),
        rule_(splitter.steps_[step]),
        word_(word) {}

  void add(size_t begin, size_t end, bool match) {
    if (begin == end) {
      return;
    }
    match = match != rule_.invert;
    switch (rule_.behavior) {
      case SplitBehavior::kRemoved:
        if (!match) {
          give(begin, end);
        }
        return;
      case SplitBehavior::kIsolated:
        give(begin, end);
        return;
      case SplitBehavior::kMergedWithPrevious:
        keep(begin, end, match && !last_match_);
        break;
      case SplitBehavior::kMergedWithNext:
        keep(begin, end, !match && last_match_);
        break;
      case SplitBehavior::kContiguous:
        keep(begin, end, match == last_match_);
        break;
    }
    last_match_ = match;
  }
  void finish() {
    if (end_ > begin_) {
      give(begin_, end_);
      begin_ = end_;
    }
  }

 private:
  /// Holds the part back, joined to the one that is held where `joined`.
  void keep(size_t begin, size_t end, bool joined) {
    if (!joined || begin_ == end_) {
      finish();
      begin_ = begin;
    }
    end_ = end;
  }
  void give(size_t begin, size_t end) {
    splitter_.split(text_.substr(begin, end - begin), step_ + 1, word_);
  }

  WordSplitter& splitter_;
  std::string_view text_;
  size_t step_;
  const WordStep& rule_;
  const Word& word_;
  size_t begin_ = 0; // of the word that is held back
  size_t end_ = 0;
  bool last_match_ = false;
};

void WordSplitter::split(std::string_view text, size_t step, const Word& word) {
  if (step == steps_.size()) {
    word(text);
    return;
  }
  Joiner joiner(*this, text, step, word);
  size_t place = 0;
  while (place < text.size()) {
    const auto match = matcher_.find(steps_[step].pattern, text, place);
    if (!match) {
      break;
    }
    ensure(match->begin < match->end, "[tokenizer] expected a match of text");
    joiner.add(place, match->begin, false);
    joiner.add(match->begin, match->end, true);
    place = match->end;
  }
  joiner.add(place, text.size(), false);
  joiner.finish();
}

} // namespace holdfast
