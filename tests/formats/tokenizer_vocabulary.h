// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A small vocabulary for tests, which owns its texts. The usual beginning:
// <pad> 0, <eos> 1, <bos> 2, <unk> 3, then the 256 bytes from id 4 on.

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "holdfast/formats/tokenizer.h"

namespace holdfast {

struct TestVocabulary {
  std::deque<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> types;
  SpmVocabulary rest; // all but pieces, scores and types

  /// Returns the id.
  TokenId
  add(std::string text, float score = 0, PieceType type = PieceType::kNormal) {
    texts.push_back(std::move(text));
    scores.push_back(score);
    types.push_back(static_cast<int32_t>(type));
    return static_cast<TokenId>(texts.size()) - 1;
  }
  TokenId add(std::string text, PieceType type) {
    return add(std::move(text), 0, type);
  }

  SpmVocabulary view() const {
    SpmVocabulary result = rest;
    result.pieces.assign(texts.begin(), texts.end());
    result.scores = scores;
    result.types = types;
    return result;
  }
  Tokenizer build() const {
    return Tokenizer::build(view()).value();
  }
};

inline constexpr TokenId kTestBos = 2;
inline constexpr TokenId kTestUnknown = 3;

inline TokenId byte_id(int byte) {
  return 4 + byte;
}

inline TestVocabulary usual_beginning(bool with_bytes = true) {
  TestVocabulary result;
  result.rest.padding = result.add("<pad>", PieceType::kControl);
  result.rest.eos = result.add("<eos>", PieceType::kControl);
  result.rest.bos = result.add("<bos>", PieceType::kControl);
  result.rest.unknown = result.add("<unk>", PieceType::kUnknown);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; with_bytes && byte < 256; ++byte) {
    result.add(
        std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">",
        PieceType::kByte);
  }
  return result;
}

} // namespace holdfast
