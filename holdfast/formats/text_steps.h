// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What is done to text before it is cut into words: the normalizers of a
// tokenizer.json. A list of steps; each makes a new text of the last.
// Immutable once built; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/split_pattern.h"
#include "holdfast/formats/unicode_text.h"

namespace holdfast {

struct TextStep {
  enum class Kind {
    kForm, // a normal form of Unicode
    kLower,
    kPrepend, // `to`, before a stretch
    kPrefix, // `to`, before a stretch that does not begin with it
    kReplace, // each match of `pattern` becomes `to`
    kStrip, // white space at the ends
  };
  Kind kind = Kind::kForm;
  NormalForm form = NormalForm::kNfc;
  std::string to = {};
  std::optional<SplitPattern> pattern = {};
  bool first_only = false; // kPrefix: at the text's start alone
  bool left = false; // kStrip
  bool right = false;
};

/// Where a stretch of plain text stands.
enum class StretchPlace {
  kStart, // the text's begin
  kInside, // behind a piece that was cut out
  kGoesOn, // behind plain text: nothing goes before it
};

class TextSteps {
 public:
  TextSteps() = default;
  explicit TextSteps(std::vector<TextStep> steps) : steps_(std::move(steps)) {}

  bool empty() const {
    return steps_.empty();
  }
  /// The text after all steps: `text` itself, which is UTF-8, or a view of
  /// `memory`.
  std::string_view apply(
      std::string_view text,
      StretchPlace place,
      PatternMatcher& matcher,
      std::string& memory) const;

 private:
  std::vector<TextStep> steps_;
};

} // namespace holdfast
