// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/spm_model.h"

#include <string>
#include <utility>

namespace holdfast {
namespace {

std::vector<PieceMatcher::Entry>
entries_of(const SpmRules& rules, bool with_control) {
  std::vector<PieceMatcher::Entry> entries;
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

} // namespace

SpmModel::SpmModel(const SpmVocabulary& vocabulary, SpmRules rules)
    : rules_(std::move(rules)),
      user_defined_(entries_of(rules_, false)),
      searched_(entries_of(rules_, true)),
      special_{
          .bos = static_cast<TokenId>(vocabulary.bos),
          .eos = static_cast<TokenId>(vocabulary.eos),
          .unknown = rules_.unknown,
          .padding = static_cast<TokenId>(vocabulary.padding),
          .add_bos = vocabulary.add_bos,
          .add_eos = vocabulary.add_eos},
      add_space_prefix_(vocabulary.add_space_prefix) {}

void SpmModel::encode(
    std::string_view text,
    const EncodeOptions& options,
    std::vector<TokenId>& ids) const {
  const PieceMatcher& matcher =
      options.parse_special ? searched_ : user_defined_;
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
    append_replaced(plain, " ", kSpaceMark, marked);
    merger.encode(marked, ids);
  };
  size_t begin = 0;
  for (size_t place = 0; place < text.size();) {
    const PieceMatcher::Entry* match = matcher.may_begin(text[place])
        ? matcher.longest_at(text.substr(place))
        : nullptr;
    if (match == nullptr) {
      ++place;
      continue;
    }
    encode_plain(text.substr(begin, place - begin));
    ids.push_back(match->id);
    prefix = add_space_prefix_ ? kSpaceMark : std::string_view();
    place += match->text.size();
    begin = place;
  }
  encode_plain(text.substr(begin));
}

void SpmModel::append_text(
    TokenId id,
    bool show_special,
    DecodePlace& place,
    std::string& text) const {
  std::string_view stored = piece(id);
  const bool prefixed = add_space_prefix_ && ends_plain_text(place.after);
  place.after = id;
  switch (type(id)) {
    case PieceType::kControl:
    case PieceType::kUnknown:
      if (show_special) {
        text.append(stored);
      }
      return;
    case PieceType::kByte:
      if (const auto byte = static_cast<char>(byte_of_piece(stored));
          !prefixed || byte != ' ') {
        text.push_back(byte);
      }
      return;
    default:
      if (prefixed && stored.starts_with(kSpaceMark)) {
        stored.remove_prefix(kSpaceMark.size());
      }
      append_replaced(stored, kSpaceMark, " ", text);
  }
}

bool SpmModel::ends_plain_text(TokenId id) const {
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

} // namespace holdfast
