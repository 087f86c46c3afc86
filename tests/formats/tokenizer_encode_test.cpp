// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenizer_vocabulary.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TokenizerEncode, MergesTheHighestScoreFirst) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a", -10);
  vocabulary.add("b", -10);
  vocabulary.add("c", -10);
  vocabulary.add("ab", -2);
  const TokenId bc = vocabulary.add("bc", -1);
  EXPECT_THAT(vocabulary.build().encode("abc"), ElementsAre(a, bc));
}

TEST(TokenizerEncode, MergesTheLeftmostPairOfEqualScores) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a", -10);
  const TokenId aa = vocabulary.add("aa", -1);
  EXPECT_THAT(vocabulary.build().encode("aaaaa"), ElementsAre(aa, aa, a));
}

TEST(TokenizerEncode, ReachesAPieceOnlyThroughPiecesThatMerge) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  const TokenId b = vocabulary.add("b");
  const TokenId c = vocabulary.add("c");
  vocabulary.add("abc"); // neither "ab" nor "bc" leads to it
  EXPECT_THAT(vocabulary.build().encode("abc"), ElementsAre(a, b, c));
}

TEST(TokenizerEncode, WritesASpaceAsItsMark) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("\u2581", -9);
  const TokenId a = vocabulary.add("a", -9);
  const TokenId space_a = vocabulary.add("\u2581a", -1);
  EXPECT_THAT(vocabulary.build().encode("a a"), ElementsAre(a, space_a));
}

TEST(TokenizerEncode, WritesWhatNoPieceCoversAsBytes) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  EXPECT_THAT(
      vocabulary.build().encode("a\u00e9 "),
      ElementsAre(a, byte_id(0xC3), byte_id(0xA9), byte_id(0x20)));
}

TEST(TokenizerEncode, WritesInvalidUtf8ByteByByteAndLosesNoPieceBehindIt) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("a", -9);
  vocabulary.add("b", -9);
  const TokenId ab = vocabulary.add("ab", -1);
  const TokenId e = vocabulary.add("\u00e9");
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(
      tokenizer.encode("\xE2\x96"), ElementsAre(byte_id(0xE2), byte_id(0x96)));
  EXPECT_THAT(
      tokenizer.encode("\xE2"
                       "ab"),
      ElementsAre(byte_id(0xE2), ab));
  EXPECT_THAT(
      tokenizer.encode("\xF0\u00e9\x80"),
      ElementsAre(byte_id(0xF0), e, byte_id(0x80)));
}

TEST(TokenizerEncode, CutsOutTheLongestUserDefinedPiece) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId one = vocabulary.add("\n", PieceType::kUserDefined);
  const TokenId two = vocabulary.add("\n\n", PieceType::kUserDefined);
  const TokenId four = vocabulary.add("\n\n\n\n", PieceType::kUserDefined);
  const TokenId x = vocabulary.add("x");
  const TokenId spaces = vocabulary.add("  ", PieceType::kUserDefined);
  EXPECT_THAT(
      vocabulary.build().encode("x\n\n\nx\n\n\n\n\n  x"),
      ElementsAre(x, two, one, x, four, one, spaces, x));
}

TEST(TokenizerEncode, CutsTheLeftmostOfOverlappingUserDefinedPieces) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId ab = vocabulary.add("ab", PieceType::kUserDefined);
  vocabulary.add("bcd", PieceType::kUserDefined);
  const TokenId c = vocabulary.add("c");
  const TokenId d = vocabulary.add("d");
  EXPECT_THAT(vocabulary.build().encode("abcd"), ElementsAre(ab, c, d));
}

TEST(TokenizerEncode, NeverMergesAcrossAUserDefinedPiece) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  const TokenId b = vocabulary.add("b");
  const TokenId tag = vocabulary.add("<b>", PieceType::kUserDefined);
  vocabulary.add("a<", 5);
  vocabulary.add(">b", 5);
  EXPECT_THAT(vocabulary.build().encode("a<b>b"), ElementsAre(a, tag, b));
}

TEST(TokenizerEncode, TakesControlPiecesInTextForTextUnlessAsked) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId x = vocabulary.add("x");
  const TokenId open = vocabulary.add("<eos", -2); // reachable by merging
  for (const char* part : {"<", "e", "o", "s", "<e", "<eo"}) {
    vocabulary.add(part, -3);
  }
  const TokenId close = vocabulary.add(">", -3);
  vocabulary.add("s>", -50); // so that the text is not split before ">"
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("x<eos>x"), ElementsAre(x, open, close, x));
  EXPECT_THAT(
      tokenizer.encode("x<eos>x", {.parse_special = true}),
      ElementsAre(x, tokenizer.eos(), x));
}

TEST(TokenizerEncode, NeverMakesABytePieceFromItsName) {
  TestVocabulary vocabulary = usual_beginning();
  for (const char* part : {"<", "0", "x", "4", "1", "<0", "<0x", "<0x4"}) {
    vocabulary.add(part, -3);
  }
  const TokenId open = vocabulary.add("<0x41", -2);
  const TokenId close = vocabulary.add(">", -3);
  vocabulary.add("1>", -50);
  EXPECT_THAT(vocabulary.build().encode("<0x41>"), ElementsAre(open, close));
}

TEST(TokenizerEncode, AddsBosAndEosWhereTheVocabularySaysSo) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  EXPECT_THAT(vocabulary.build().encode("a"), ElementsAre(a));
  vocabulary.rest.add_bos = true;
  EXPECT_THAT(vocabulary.build().encode("a"), ElementsAre(2, a));
  EXPECT_THAT(vocabulary.build().encode(""), ElementsAre(2));
  vocabulary.rest.add_eos = true;
  EXPECT_THAT(vocabulary.build().encode("a"), ElementsAre(2, a, 1));
  EXPECT_THAT(vocabulary.build().encode("", {.add_special = false}), IsEmpty());
}

TEST(TokenizerEncode, PutsTheSpacePrefixBeforeEachStretchOfPlainText) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId space = vocabulary.add("\u2581", -9);
  vocabulary.add("a", -9);
  const TokenId space_a = vocabulary.add("\u2581a", -1);
  const TokenId tag = vocabulary.add("<t>", PieceType::kUserDefined);
  vocabulary.rest.add_space_prefix = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(
      tokenizer.encode("a<t>a a"), ElementsAre(space_a, tag, space_a, space_a));
  EXPECT_THAT(tokenizer.encode(" a"), ElementsAre(space, space_a));
  EXPECT_THAT(tokenizer.encode("<t>"), ElementsAre(tag));
  EXPECT_THAT(tokenizer.encode(""), IsEmpty());
}

TEST(TokenizerEncode, MergesThroughUnusedPiecesAndTakesThemApartAgain) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a", -9);
  const TokenId b = vocabulary.add("b", -9);
  vocabulary.add("c", -9);
  vocabulary.add("ab", -1, PieceType::kUnused);
  const TokenId abc = vocabulary.add("abc", -2);
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_THAT(tokenizer.encode("ab"), ElementsAre(a, b));
  EXPECT_THAT(tokenizer.encode("abcab"), ElementsAre(abc, a, b));
}

TEST(TokenizerEncode, WritesARunWithoutPiecesAsOneUnknownWhereThereAreNoBytes) {
  TestVocabulary vocabulary = usual_beginning(false);
  const TokenId a = vocabulary.add("a");
  EXPECT_THAT(
      vocabulary.build().encode("\u00e9\u00e8"
                                "a\u00e9"),
      ElementsAre(kTestUnknown, a, kTestUnknown));
}

TEST(TokenizerEncode, FollowsTheWorkedExampleOfTheDocument) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("\u2581", -9);
  vocabulary.add("a", -9);
  const TokenId b = vocabulary.add("b", -9);
  const TokenId ab = vocabulary.add("ab", -2);
  const TokenId space_a = vocabulary.add("\u2581a", -1);
  const TokenId tag = vocabulary.add("<t>", PieceType::kUserDefined);
  EXPECT_THAT(
      vocabulary.build().encode("ab ab<t>\u00e9"),
      ElementsAre(ab, space_a, b, tag, byte_id(0xC3), byte_id(0xA9)));
}

TEST(TokenizerEncode, MergesOneVeryLongWord) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("a", -9);
  vocabulary.add("aa", -8);
  vocabulary.add("aaaa", -7);
  const TokenId eight = vocabulary.add("aaaaaaaa", -6);
  const std::vector<TokenId> ids =
      vocabulary.build().encode(std::string(1 << 18, 'a'));
  EXPECT_EQ(ids, std::vector<TokenId>((1 << 18) / 8, eight));
}

} // namespace
} // namespace holdfast
