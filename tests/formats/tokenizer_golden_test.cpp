// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Against ids that SentencePiece computed over a vocabulary of 2000 pieces:
// tests/oracle/tokenizer_oracle.py writes the file. Its lines are
// "piece TYPE SCORE HEX" in the order of ids, then "text HEX ID...", where the
// empty text is "-".

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tokenizer_vocabulary.h"

namespace holdfast {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct GoldenText {
  std::string text;
  std::vector<TokenId> ids;
};

struct Golden {
  TestVocabulary vocabulary;
  std::vector<GoldenText> texts;
};

Golden read_golden() {
  std::ifstream file(HOLDFAST_TEST_DATA "/tokenizer_golden.txt");
  EXPECT_TRUE(file.good());
  Golden golden;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, hex;
    words >> kind;
    if (kind == "piece") {
      int type = 0;
      float score = 0;
      words >> type >> score >> hex;
      golden.vocabulary.add(from_hex(hex), score, static_cast<PieceType>(type));
      continue;
    }
    GoldenText& text = golden.texts.emplace_back();
    words >> hex;
    text.text = from_hex(hex);
    for (TokenId id = 0; words >> id;) {
      text.ids.push_back(id);
    }
  }
  golden.vocabulary.rest.unknown = 0;
  return golden;
}

TEST(TokenizerGolden, AgreesWithSentencePieceOnEveryText) {
  const Golden golden = read_golden();
  ASSERT_EQ(golden.vocabulary.texts.size(), 2000u);
  ASSERT_EQ(golden.texts.size(), 31u);
  const Tokenizer tokenizer = golden.vocabulary.build();
  for (const GoldenText& text : golden.texts) {
    EXPECT_EQ(tokenizer.encode(text.text), text.ids) << text.text;
    EXPECT_EQ(tokenizer.decode(text.ids), text.text);
  }
}

TEST(TokenizerGolden, StreamsEveryTextAsItIs) {
  const Golden golden = read_golden();
  const Tokenizer tokenizer = golden.vocabulary.build();
  for (const GoldenText& text : golden.texts) {
    Detokenizer detokenizer(tokenizer);
    std::string streamed;
    for (const TokenId id : text.ids) {
      streamed += detokenizer.push(id);
    }
    EXPECT_EQ(streamed, text.text);
    EXPECT_EQ(detokenizer.flush(), "");
  }
}

} // namespace
} // namespace holdfast
