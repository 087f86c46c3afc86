// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/formats/bpe_vocabulary.h"

namespace holdfast {
namespace {

const std::string kMark(kSpaceMark);

TEST(BpeDecode, ReadsPiecesOutOfTheByteAlphabet) {
  BpeVocabulary vocabulary = BpeVocabulary::byte_level();
  const TokenId the = vocabulary.add("\xC4\xA0the"); // " the"
  const TokenId other = vocabulary.add("漢"); // not of the alphabet
  const TokenId end = vocabulary.add_token({.text = "<end>", .special = true});
  // An added token is its text, though it is of the alphabet.
  const TokenId added = vocabulary.add_token({.text = "\xC4\xA0x"});
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_EQ(tokenizer.decode(std::vector{the, other}), " the漢");
  EXPECT_EQ(tokenizer.decode(std::vector{end, added}), "\xC4\xA0x");
  EXPECT_EQ(
      tokenizer.decode(std::vector{end, the}, {.show_special = true}),
      "<end> the");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{0xC3, 0xA9}), "é");
}

TEST(BpeDecode, DropsTheSpaceThatATextBeginsWith) {
  BpeVocabulary vocabulary = BpeVocabulary::marked();
  const TokenId a = vocabulary.add(kMark + "a");
  const TokenId tag = vocabulary.add_token({.text = "<b>"});
  const TokenId end = vocabulary.add_token({.text = "<end>", .special = true});
  vocabulary.spec.strip_first_space = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_EQ(tokenizer.decode(std::vector{a, a}), "a a");
  EXPECT_EQ(tokenizer.decode(std::vector{tag, a}), "<b> a");
  EXPECT_EQ(tokenizer.decode(std::vector{end, a}), "a");
  EXPECT_EQ(
      tokenizer.decode(std::vector{end, a}, {.show_special = true}), "<end> a");
  EXPECT_EQ(tokenizer.decode(std::vector{a}, {.after = a}), " a");
  EXPECT_EQ(tokenizer.decode(std::vector{a}, {.after = tag}), " a");
  EXPECT_EQ(tokenizer.decode(std::vector{a}, {.after = end}), "a");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{' ', 'x'}), "x");
}

TEST(BpeDecode, DropsAllMarksOfTheFirstPieceWithMetaspace) {
  BpeVocabulary vocabulary = BpeVocabulary::marked(false);
  const TokenId marks = vocabulary.add(kMark + kMark + "a" + kMark);
  vocabulary.spec.decoder = BpeDecoder::kMetaspace;
  vocabulary.spec.strip_first_space = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_EQ(tokenizer.decode(std::vector{marks, marks}), "a  a ");
}

TEST(BpeDecode, StreamsWholeCharacters) {
  const Tokenizer tokenizer = BpeVocabulary::byte_level().build();
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push(0xE2), "");
  EXPECT_EQ(detokenizer.push(0x82), "");
  EXPECT_EQ(detokenizer.held(), "\xE2\x82");
  EXPECT_EQ(detokenizer.push(0xAC), "€");
  EXPECT_EQ(detokenizer.push(0xFF), "\xEF\xBF\xBD");
}

} // namespace
} // namespace holdfast
