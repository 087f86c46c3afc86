// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <random>

#include "holdfast/formats/utf8.h"
#include "tokenizer_vocabulary.h"

namespace holdfast {
namespace {

constexpr std::string_view kBad = kReplacementCharacter;

std::string push_bytes(Detokenizer& detokenizer, std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += detokenizer.push(byte_id(static_cast<uint8_t>(byte)));
  }
  return text;
}

std::string
push_all(Detokenizer& detokenizer, const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids) {
    text += detokenizer.push(id);
  }
  return text;
}

TEST(TokenizerStream, HoldsBytesUntilTheirCharacterIsWhole) {
  const TestVocabulary vocabulary = usual_beginning();
  const Tokenizer tokenizer = vocabulary.build();
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(push_bytes(detokenizer, "\xF0\x9F\x8E"), "");
  EXPECT_EQ(push_bytes(detokenizer, "\x89"), "\U0001F389");
  EXPECT_EQ(detokenizer.flush(), "");
}

TEST(TokenizerStream, ShowsInvalidBytesAsSoonAsThatIsCertain) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  const Tokenizer tokenizer = vocabulary.build();
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(push_bytes(detokenizer, "\xFF"), kBad);
  EXPECT_EQ(push_bytes(detokenizer, "\xE2\x96"), "");
  EXPECT_EQ(detokenizer.push(a), std::string(kBad) + "a");
  EXPECT_EQ(push_bytes(detokenizer, "\xE2\x96\xE2"), kBad);
  EXPECT_EQ(detokenizer.flush(), kBad);
  EXPECT_EQ(detokenizer.flush(), "");
}

TEST(TokenizerStream, ShowsOneReplacementForEachMaximalSubpart) {
  const TestVocabulary vocabulary = usual_beginning();
  const Tokenizer tokenizer = vocabulary.build();
  const auto count = [&](std::string_view bytes) {
    Detokenizer detokenizer(tokenizer);
    std::string text = push_bytes(detokenizer, bytes);
    text += detokenizer.flush();
    EXPECT_EQ(text.size() % kBad.size(), 0u);
    return text.size() / kBad.size();
  };
  EXPECT_EQ(count("\xED\xA0\x80"), 3u); // a surrogate
  EXPECT_EQ(count("\xC0\x80"), 2u); // overlong
  EXPECT_EQ(count("\xE0\x80\x80"), 3u); // overlong
  EXPECT_EQ(count("\xF0\x8F\xBF\xBF"), 4u); // overlong
  EXPECT_EQ(count("\xF4\x90\x80\x80"), 4u); // above U+10FFFF
  EXPECT_EQ(count("\xF1\x80\x80\xF1\x80"), 2u); // two truncated characters
}

TEST(TokenizerStream, TakesEveryPointOfUnicode) {
  const auto encode = [](uint32_t point) {
    std::string bytes;
    if (point < 0x80) {
      return std::string(1, static_cast<char>(point));
    }
    int trailing = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    const int lead = trailing == 1 ? 0xC0 : trailing == 2 ? 0xE0 : 0xF0;
    bytes.push_back(static_cast<char>(
        static_cast<uint32_t>(lead) | (point >> (6 * trailing))));
    while (trailing-- > 0) {
      bytes.push_back(
          static_cast<char>(0x80 | ((point >> (6 * trailing)) & 0x3F)));
    }
    return bytes;
  };
  for (uint32_t point = 0; point <= 0x110000; ++point) {
    const std::string bytes = encode(point);
    const Utf8Step step = utf8_step(bytes);
    const bool valid = point < 0x110000 && (point < 0xD800 || point > 0xDFFF);
    ASSERT_EQ(step.state == Utf8State::kValid, valid) << point;
    ASSERT_EQ(utf8_length_or_one(bytes), valid ? int(bytes.size()) : 1);
    if (valid && bytes.size() > 1) {
      const auto part = std::string_view(bytes).substr(0, bytes.size() - 1);
      ASSERT_EQ(utf8_step(part).state, Utf8State::kIncomplete) << point;
    }
  }
}

TEST(TokenizerStream, HidesControlPiecesUnlessAsked) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId a = vocabulary.add("a");
  const Tokenizer tokenizer = vocabulary.build();
  Detokenizer hiding(tokenizer);
  EXPECT_EQ(push_all(hiding, {kTestBos, a}), "a");
  Detokenizer showing(tokenizer, {.show_special = true});
  EXPECT_EQ(push_all(showing, {kTestBos, a}), "<bos>a");
}

TEST(TokenizerStream, DropsTheSpacePrefixAtAStartAndKeepsItInAContinuation) {
  TestVocabulary vocabulary = usual_beginning();
  const TokenId space_a = vocabulary.add("\u2581a");
  vocabulary.rest.add_space_prefix = true;
  const Tokenizer tokenizer = vocabulary.build();
  Detokenizer start(tokenizer);
  EXPECT_EQ(push_all(start, {space_a, space_a}), "a a");
  Detokenizer after_bos(tokenizer, {.after = kTestBos});
  EXPECT_EQ(after_bos.push(space_a), "a");
  Detokenizer continuation(tokenizer, {.after = space_a});
  EXPECT_EQ(continuation.push(space_a), " a");
}

TEST(TokenizerStream, DropsTheSpacePrefixAlsoWhereASpaceIsAByte) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("a");
  vocabulary.rest.add_space_prefix = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_EQ(tokenizer.encode("a").front(), byte_id(' '));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a a")), "a a");
}

TEST(TokenizerStream, KeepsTheSpaceBehindAUserDefinedPieceMergedFromText) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("\u2581", -9);
  vocabulary.add("a", -9);
  vocabulary.add("\u2581\u2581", -1, PieceType::kUserDefined);
  vocabulary.add("\u2581a", -2);
  vocabulary.rest.add_space_prefix = true;
  const Tokenizer tokenizer = vocabulary.build();
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("  a")), "  a");
}

TEST(TokenizerStream, RefusesAnIdOutOfRangeAndStaysUsable) {
  TestVocabulary vocabulary = usual_beginning();
  const Tokenizer tokenizer = vocabulary.build();
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(push_bytes(detokenizer, "\xC3"), "");
  EXPECT_THROW(detokenizer.push(260), Error);
  EXPECT_THROW(detokenizer.push(-1), Error);
  EXPECT_EQ(push_bytes(detokenizer, "\xA9"), "\u00e9");
  EXPECT_THROW(tokenizer.decode(std::vector<TokenId>{260}), Error);
}

TEST(TokenizerStream, EmitsOnlyValidUtf8WhateverTheIds) {
  TestVocabulary vocabulary = usual_beginning();
  vocabulary.add("\u2581");
  vocabulary.add("\u00e9x");
  vocabulary.add("\x96\x81"); // not UTF-8 by itself
  const Tokenizer tokenizer = vocabulary.build();
  std::mt19937 random(3);
  Detokenizer detokenizer(tokenizer);
  for (int i = 0; i < 20000; ++i) {
    const auto id = static_cast<TokenId>(random() % uint64_t(tokenizer.size()));
    std::string text = detokenizer.push(id);
    for (size_t place = 0; place < text.size();) {
      const Utf8Step step = utf8_step(std::string_view(text).substr(place));
      ASSERT_EQ(step.state, Utf8State::kValid);
      place += static_cast<size_t>(step.length);
    }
  }
}

} // namespace
} // namespace holdfast
