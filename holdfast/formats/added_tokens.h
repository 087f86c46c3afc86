// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Pieces that are cut out of text before anything else happens: the added
// tokens of a tokenizer.json, the control and user-defined pieces of a GGUF
// file. From left to right, the longest that begins at each place. Immutable
// once built; any thread.

#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/formats/piece_matcher.h"
#include "holdfast/formats/split_pattern.h"
#include "holdfast/formats/token_id.h"

namespace holdfast {

struct AddedToken {
  TokenId id = kNoToken;
  std::string text; // not empty
  bool special = false; // cut out where asked for alone
  bool single_word = false; // not within a word
  bool left_strip = false; // takes the white space before it along
  bool right_strip = false;
  bool normalized = false; // looked for after the normalizers ran, as they
                           // write it
};

class AddedTokens {
 public:
  /// A part of a text: plain, or a piece's.
  struct Part {
    size_t begin = 0;
    size_t end = 0;
    TokenId id = kNoToken; // none: plain
  };
  using Normalize = std::function<std::string(std::string_view)>;

  explicit AddedTokens(std::vector<AddedToken> tokens = {});
  AddedTokens(std::vector<AddedToken> tokens, const Normalize& normalize);

  /// The parts of a text in order, none empty but a lone one. special: those
  /// are cut out too.
  std::vector<Part>
  cut_raw(std::string_view text, bool special, PatternMatcher& matcher) const;
  /// The same after the normalizers, for the tokens that are looked for then.
  std::vector<Part> cut_normalized(
      std::string_view text,
      bool special,
      PatternMatcher& matcher) const;
  bool any_normalized(bool special) const {
    return !normalized_[special].empty();
  }

 private:
  std::vector<Part>
  cut(std::string_view text,
      const PieceMatcher& pieces,
      PatternMatcher& matcher) const;

  std::deque<AddedToken> tokens_; // texts in place: the matchers view them
  std::vector<PieceMatcher> raw_; // [2]: without and with the special ones
  std::vector<PieceMatcher> normalized_; // [2]
  SplitPattern word_; // a character of a word
};

} // namespace holdfast
