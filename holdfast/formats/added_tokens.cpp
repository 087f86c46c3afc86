// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/added_tokens.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/formats/unicode_text.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

// The word characters of Unicode's regular expressions (UTS 18, annex C).
constexpr const char* kWordCharacter =
    "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200C}\\x{200D}]";

/// Bytes that are not UTF-8 are of no word.
bool begins_with_word(
    std::string_view text,
    const SplitPattern& word,
    PatternMatcher& matcher) {
  if (text.empty()) {
    return false;
  }
  const Utf8Step step = utf8_step(text);
  return step.state == Utf8State::kValid &&
      matcher.find(word, text.substr(0, static_cast<size_t>(step.length)), 0);
}

bool ends_with_word(
    std::string_view text,
    const SplitPattern& word,
    PatternMatcher& matcher) {
  return !text.empty() &&
      begins_with_word(text.substr(last_character(text)), word, matcher);
}

} // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens)
    : AddedTokens(std::move(tokens), [](std::string_view text) {
        return std::string(text);
      }) {}

AddedTokens::AddedTokens(
    std::vector<AddedToken> tokens,
    const Normalize& normalize)
    : tokens_(
          std::make_move_iterator(tokens.begin()),
          std::make_move_iterator(tokens.end())),
      word_(SplitPattern::own(kWordCharacter)) {
  std::vector<PieceMatcher::Entry> entries[2][2]; // [normalized][special]
  std::set<std::string_view> texts; // normalised: two may become one
  for (size_t i = 0; i < tokens_.size(); ++i) {
    AddedToken& token = tokens_[i];
    if (token.normalized) {
      token.text = normalize(token.text);
    }
    if (token.text.empty()) {
      continue; // no text reaches it
    }
    if (token.normalized && !texts.insert(token.text).second) {
      continue; // nor this one: the first has it
    }
    // The matcher's id is the place in tokens_.
    const PieceMatcher::Entry entry{token.text, static_cast<TokenId>(i)};
    entries[token.normalized][1].push_back(entry);
    if (!token.special) {
      entries[token.normalized][0].push_back(entry);
    }
  }
  for (auto& of_special : entries[0]) {
    raw_.emplace_back(std::move(of_special));
  }
  for (auto& of_special : entries[1]) {
    normalized_.emplace_back(std::move(of_special));
  }
}

std::vector<AddedTokens::Part> AddedTokens::cut_raw(
    std::string_view text,
    bool special,
    PatternMatcher& matcher) const {
  return cut(text, raw_[special], matcher);
}

std::vector<AddedTokens::Part> AddedTokens::cut_normalized(
    std::string_view text,
    bool special,
    PatternMatcher& matcher) const {
  return cut(text, normalized_[special], matcher);
}

std::vector<AddedTokens::Part> AddedTokens::cut(
    std::string_view text,
    const PieceMatcher& pieces,
    PatternMatcher& matcher) const {
  std::vector<Part> parts;
  size_t plain = 0; // from here on nothing is cut yet
  for (size_t place = 0; place < text.size();) {
    const PieceMatcher::Entry* found = pieces.may_begin(text[place])
        ? pieces.longest_at(text.substr(place))
        : nullptr;
    if (found == nullptr) {
      ++place;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(found->id)];
    size_t begin = place;
    size_t end = place + found->text.size();
    place = end;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin), word_, matcher) ||
         begins_with_word(text.substr(end), word_, matcher))) {
      continue;
    }
    if (token.left_strip) {
      begin =
          std::max(plain, without_right_space(text.substr(0, begin)).size());
    }
    if (token.right_strip) {
      end = text.size() - without_left_space(text.substr(end)).size();
    }
    if (plain < begin) {
      parts.push_back({plain, begin, kNoToken});
    }
    parts.push_back({begin, end, token.id});
    plain = end;
  }
  if (plain < text.size() || parts.empty()) {
    parts.push_back({plain, text.size(), kNoToken});
  }
  return parts;
}

} // namespace holdfast
