// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A regular expression that cuts text into words, as tokenizer files write it:
// Oniguruma's syntax, of which a subset is read (docs/tokenizer.md) and handed
// to PCRE2 so that both match the same bytes. What is not of the subset is
// refused. Immutable: any thread; a PatternMatcher is working memory of one.
//
// Invariant: a match is never empty, and no repeated part repeats without end
// itself, so the work for a place is bounded by a power of the text's length;
// beyond kMatchSteps of it the text is refused.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/base/status.h"

namespace holdfast {

/// The pattern in PCRE2's syntax. Throws Error kUnsupported, text "expected
/// ..., got ..." with the place, for what is not read here.
std::string pcre2_of(std::string_view pattern);

class SplitPattern {
 public:
  /// kUnsupported for what pcre2_of() or PCRE2 refuses, for a pattern that
  /// matches nothing's width, and for one above 64 KiB.
  static Result<SplitPattern> compile(std::string_view pattern);
  /// One that finds exactly this text, not empty.
  static SplitPattern literal(std::string_view text);
  /// One in PCRE2's own syntax, written in this library.
  static SplitPattern own(const char* pattern);

 private:
  friend class PatternMatcher;
  struct Code;
  explicit SplitPattern(std::shared_ptr<const Code> code)
      : code_(std::move(code)) {}

  std::shared_ptr<const Code> code_;
};

struct PatternMatch {
  size_t begin = 0;
  size_t end = 0;
};

class PatternMatcher {
 public:
  PatternMatcher();

  /// The first match from `place` on; `text` is UTF-8. Throws Error
  /// kOutOfBudget where the text takes too many steps.
  std::optional<PatternMatch>
  find(const SplitPattern& pattern, std::string_view text, size_t place);

  /// Steps that a match may take beyond eight for each byte of the text.
  static constexpr uint32_t kMatchSteps = 50000;

 private:
  struct Memory;
  std::shared_ptr<Memory> memory_;
};

} // namespace holdfast
