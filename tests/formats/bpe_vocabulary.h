// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Small merging vocabularies for tests, which own their texts: 256 bytes at the
// beginning, as their alphabet or as byte pieces, then what is added.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "holdfast/formats/bpe_model.h"
#include "holdfast/formats/byte_alphabet.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

struct BpeVocabulary {
  std::deque<std::string> texts;
  BpeSpec spec; // pieces view `texts`

  static BpeVocabulary byte_level() {
    BpeVocabulary result;
    result.spec.byte_level = true;
    for (int byte = 0; byte < 256; ++byte) {
      std::string piece;
      append_in_alphabet(std::string(1, static_cast<char>(byte)), piece);
      result.add(std::move(piece));
    }
    return result;
  }
  /// <unk> is 256.
  static BpeVocabulary marked(bool with_bytes = true) {
    constexpr char kHex[] = "0123456789ABCDEF";
    BpeVocabulary result;
    result.spec.byte_fallback = with_bytes;
    result.spec.decoder = BpeDecoder::kMarks;
    for (int byte = 0; with_bytes && byte < 256; ++byte) {
      result.add(std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">");
    }
    result.spec.special.unknown = result.add("<unk>");
    return result;
  }

  TokenId add(std::string text, PieceType type = PieceType::kNormal) {
    texts.push_back(std::move(text));
    spec.pieces.push_back(texts.back());
    spec.types.push_back(type);
    return static_cast<TokenId>(texts.size()) - 1;
  }
  /// A merge, and its product as a piece.
  TokenId merge(std::string left, std::string right) {
    const TokenId id = add(left + right);
    merge_only(std::move(left), std::move(right));
    return id;
  }
  void merge_only(std::string left, std::string right) {
    const std::string_view first = halves_.emplace_back(std::move(left));
    const std::string_view second = halves_.emplace_back(std::move(right));
    spec.merges.emplace_back(first, second);
  }
  TokenId add_token(AddedToken token) {
    token.id =
        add(token.text,
            token.special ? PieceType::kControl : PieceType::kUserDefined);
    spec.added.push_back(token);
    return token.id;
  }

  Status status() const {
    return BpeModel::build(spec).status();
  }
  Tokenizer build() const {
    return Tokenizer(BpeModel::build(spec).value());
  }

 private:
  std::deque<std::string> halves_;
};

} // namespace holdfast
