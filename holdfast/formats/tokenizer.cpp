// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/check.h"

namespace holdfast {
namespace {

std::vector<SpmMatcher::Entry>
entries_of(const SpmRules& rules, bool with_control) {
  std::vector<SpmMatcher::Entry> entries;
  for (size_t i = 0; i < rules.pieces.size(); ++i) {
    const PieceType type = rules.types[i];
    const bool control =
        type == PieceType::kControl || type == PieceType::kUnknown;
    if (!rules.pieces[i].empty() &&
        (type == PieceType::kUserDefined || (control && with_control))) {
      entries.push_back({rules.pieces[i], static_cast<TokenId>(i)});
    }
  }
  return entries;
}

void append_with_space_marks(std::string_view text, std::string& result) {
  for (size_t place = 0; place < text.size();) {
    const size_t space = std::min(text.find(' ', place), text.size());
    result.append(text.substr(place, space - place));
    if (space < text.size()) {
      result.append(kSpaceMark);
    }
    place = space + 1;
  }
}

void append_with_spaces(std::string_view piece, std::string& result) {
  for (size_t place = 0; place < piece.size();) {
    const size_t mark = std::min(piece.find(kSpaceMark, place), piece.size());
    result.append(piece.substr(place, mark - place));
    if (mark < piece.size()) {
      result.push_back(' ');
    }
    place = mark + kSpaceMark.size();
  }
}

} // namespace

Tokenizer::Tokenizer(const SpmVocabulary& vocabulary, SpmRules rules)
    : rules_(std::move(rules)),
      user_defined_(entries_of(rules_, false)),
      special_(entries_of(rules_, true)),
      bos_(static_cast<TokenId>(vocabulary.bos)),
      eos_(static_cast<TokenId>(vocabulary.eos)),
      padding_(static_cast<TokenId>(vocabulary.padding)),
      add_bos_(vocabulary.add_bos),
      add_eos_(vocabulary.add_eos),
      add_space_prefix_(vocabulary.add_space_prefix) {}

std::vector<TokenId>
Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  expect(
      text.size() <= kMaxTextBytes,
      "[tokenizer] expected a text of at most 512 MiB, got more");
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 2);
  if (options.add_special && add_bos_) {
    ids.push_back(bos_);
  }
  const SpmMatcher& matcher = options.parse_special ? special_ : user_defined_;
  SpmMerger merger(rules_);
  std::string marked;
  std::string_view prefix = add_space_prefix_ ? kSpaceMark : std::string_view();
  if (!ends_plain_text(options.after)) {
    prefix = {}; // the text goes on
  }
  const auto encode_plain = [&](std::string_view plain) {
    if (plain.empty()) {
      return;
    }
    marked.assign(prefix);
    append_with_space_marks(plain, marked);
    merger.encode(marked, ids);
  };
  const auto begin_plain = [&] {
    prefix = add_space_prefix_ ? kSpaceMark : std::string_view();
  };
  size_t begin = 0;
  for (size_t place = 0; place < text.size();) {
    const SpmMatcher::Entry* match = matcher.may_begin(text[place])
        ? matcher.longest_at(text.substr(place))
        : nullptr;
    if (match == nullptr) {
      ++place;
      continue;
    }
    encode_plain(text.substr(begin, place - begin));
    ids.push_back(match->id);
    begin_plain();
    place += match->text.size();
    begin = place;
  }
  encode_plain(text.substr(begin));
  if (options.add_special && add_eos_) {
    ids.push_back(eos_);
  }
  return ids;
}

std::string
Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  std::string text;
  for (const TokenId id : ids) {
    append_text(id, options, text);
    options.after = id;
  }
  return text;
}

void Tokenizer::append_text(
    TokenId id,
    DecodeOptions options,
    std::string& text) const {
  std::string_view stored = piece(id);
  const bool prefixed = add_space_prefix_ && ends_plain_text(options.after);
  switch (type(id)) {
    case PieceType::kControl:
    case PieceType::kUnknown:
      if (options.show_special) {
        text.append(stored);
      }
      return;
    case PieceType::kByte:
      if (const auto byte = static_cast<char>(spm_byte_of(stored));
          !prefixed || byte != ' ') {
        text.push_back(byte);
      }
      return;
    default:
      if (prefixed && stored.starts_with(kSpaceMark)) {
        stored.remove_prefix(kSpaceMark.size());
      }
      append_with_spaces(stored, text);
  }
}

bool Tokenizer::ends_plain_text(TokenId id) const {
  if (id == kNoToken) {
    return true;
  }
  switch (type(id)) {
    case PieceType::kControl:
    case PieceType::kUnknown:
      return true;
    case PieceType::kUserDefined: // with a mark, it was merged from plain text
      return piece(id).find(kSpaceMark) == std::string_view::npos;
    default:
      return false;
  }
}

void Tokenizer::check_id(TokenId id) const {
  if (id < 0 || id >= size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[tokenizer] expected an id below " + std::to_string(size()) +
            ", got " + std::to_string(id));
  }
}

std::string_view Tokenizer::piece(TokenId id) const {
  check_id(id);
  return rules_.pieces[static_cast<size_t>(id)];
}

PieceType Tokenizer::type(TokenId id) const {
  check_id(id);
  return rules_.types[static_cast<size_t>(id)];
}

TokenId Tokenizer::find(std::string_view piece) const {
  return rules_.table.find(piece);
}

} // namespace holdfast
