// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tokenizer_vocabulary.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

Status refusal(const SpmVocabulary& vocabulary) {
  return Tokenizer::build(vocabulary).status();
}

void expect_corrupt(const SpmVocabulary& vocabulary, const char* text) {
  const Status status = refusal(vocabulary);
  EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << status.text();
  EXPECT_THAT(status.text(), HasSubstr(text));
}

TEST(TokenizerBuild, RefusesSizesThatDisagree) {
  const TestVocabulary vocabulary = usual_beginning();
  SpmVocabulary view = vocabulary.view();
  view.scores = view.scores.first(259);
  expect_corrupt(view, "as many scores as pieces (260), got 259");
  view = vocabulary.view();
  view.types = view.types.first(0);
  expect_corrupt(view, "as many types as pieces (260), got 0");
  expect_corrupt({}, "got 0");
}

TEST(TokenizerBuild, RefusesIdsOutOfRange) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.rest.bos = 260;
  expect_corrupt(vocabulary.view(), "a bos id below 260, got 260");
  vocabulary = usual_beginning();
  vocabulary.rest.unknown = -2;
  expect_corrupt(vocabulary.view(), "an unknown id below 260, got -2");
  vocabulary = usual_beginning();
  vocabulary.rest.padding = int64_t{1} << 40;
  expect_corrupt(vocabulary.view(), "padding");
  vocabulary = usual_beginning();
  vocabulary.rest.add_eos = true;
  vocabulary.rest.eos = kNoToken;
  expect_corrupt(vocabulary.view(), "eos");
}

TEST(TokenizerBuild, RefusesPiecesThatContradictTheirType) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("<0xG0>", PieceType::kByte);
  expect_corrupt(vocabulary.view(), "piece 260");
  vocabulary = usual_beginning();
  vocabulary.add("<0x0a>", PieceType::kByte);
  expect_corrupt(vocabulary.view(), "one piece for byte 10");
  vocabulary = usual_beginning();
  vocabulary.add("x", static_cast<PieceType>(7));
  expect_corrupt(vocabulary.view(), "from 1 to 6, got 7");
  vocabulary = usual_beginning();
  vocabulary.add("x", std::numeric_limits<float>::quiet_NaN());
  expect_corrupt(vocabulary.view(), "a score of piece 260");
  vocabulary = usual_beginning();
  vocabulary.add(std::string(1025, 'x'), PieceType::kUserDefined);
  expect_corrupt(vocabulary.view(), "1024");
}

TEST(TokenizerBuild, RefusesEqualPiecesOfAnyTypes) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("<bos>");
  expect_corrupt(vocabulary.view(), "piece 260 equal to piece 2");
}

TEST(TokenizerBuild, RefusesWhatCannotEncodeEveryText) {
  TestVocabulary vocabulary = usual_beginning(false);
  vocabulary.add("<0x00>", PieceType::kByte);
  EXPECT_EQ(refusal(vocabulary.view()).code(), ErrorCode::kUnsupported);
  vocabulary = usual_beginning(false);
  vocabulary.rest.unknown = kNoToken;
  EXPECT_EQ(refusal(vocabulary.view()).code(), ErrorCode::kUnsupported);
}

TEST(TokenizerBuild, AllowsEmptyPiecesWhichNoTextReaches) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("");
  const TokenId empty = vocabulary.add("", PieceType::kUserDefined);
  const TokenId a = vocabulary.add("a");
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("aa"), testing::ElementsAre(a, a));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{empty, a}), "a");
  EXPECT_EQ(tokenizer.find(""), kNoToken);
}

TEST(TokenizerBuild, SurvivesBeingMoved) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  Tokenizer first = vocabulary.build();
  Tokenizer second = std::move(first);
  first = std::move(second);
  EXPECT_THAT(first.encode("a"), testing::ElementsAre(a));
}

TEST(TokenizerBuild, TellsItsPieces) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.rest.add_bos = true;
  const TokenId a = vocabulary.add("\u2581a");
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_EQ(tokenizer.size(), 261);
  EXPECT_EQ(tokenizer.piece(a), "\u2581a");
  EXPECT_EQ(tokenizer.piece(byte_id(10)), "<0x0A>");
  EXPECT_EQ(tokenizer.type(byte_id(10)), PieceType::kByte);
  EXPECT_EQ(tokenizer.find("<eos>"), tokenizer.eos());
  EXPECT_EQ(tokenizer.find("\u2581b"), kNoToken);
  EXPECT_EQ(tokenizer.bos(), kTestBos);
  EXPECT_EQ(tokenizer.unknown(), kTestUnknown);
  EXPECT_TRUE(tokenizer.add_bos());
  EXPECT_THROW(tokenizer.piece(261), Error);
  EXPECT_THROW(tokenizer.type(-1), Error);
}

TEST(TokenizerBuild, KeepsCopiesOfThePieces) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId id = vocabulary.add("hello");
  for (const char* piece : {"h", "e", "l", "o", "he", "ll", "llo"}) {
    vocabulary.add(piece);
  }
  const Tokenizer tokenizer = vocabulary.build();
  for (std::string& text : vocabulary.texts) {
    std::fill(text.begin(), text.end(), '\0');
  }
  EXPECT_EQ(tokenizer.piece(id), "hello");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{id}), "hello");
  EXPECT_EQ(tokenizer.find("hello"), id);
}

} // namespace
} // namespace holdfast
