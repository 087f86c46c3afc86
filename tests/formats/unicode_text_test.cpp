// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <random>

#include "holdfast/formats/unicode_text.h"

namespace holdfast {
namespace {

std::string in_form(std::string_view text, NormalForm form) {
  std::string result = "<";
  append_normalized(text, form, result);
  return result.substr(1);
}

std::string lower(std::string_view text) {
  std::string result;
  append_lower(text, result);
  return result;
}

TEST(UnicodeText, ComposesWhatComposesAndLeavesTheRest) {
  EXPECT_EQ(in_form("abc", NormalForm::kNfc), "abc");
  EXPECT_EQ(in_form("xe\xCC\x81y", NormalForm::kNfc), "x\xC3\xA9y");
  EXPECT_EQ(in_form("\xCC\x81", NormalForm::kNfc), "\xCC\x81");
  // The Angstrom sign is a letter; a dot below goes before a dot above.
  EXPECT_EQ(in_form("\xE2\x84\xAB", NormalForm::kNfc), "\xC3\x85");
  EXPECT_EQ(in_form("s\xCC\x87\xCC\xA3", NormalForm::kNfc), "\xE1\xB9\xA9");
  // Hangul, by rule: U+1112 U+1161 U+11AB.
  EXPECT_EQ(
      in_form("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", NormalForm::kNfc),
      "\xED\x95\x9C");
  EXPECT_EQ(in_form("", NormalForm::kNfc), "");
}

TEST(UnicodeText, TakesCharactersApart) {
  EXPECT_EQ(in_form("\xC3\xA9", NormalForm::kNfd), "e\xCC\x81");
  EXPECT_EQ(in_form("\xEF\xAC\x81", NormalForm::kNfc), "\xEF\xAC\x81");
  EXPECT_EQ(in_form("\xEF\xAC\x81", NormalForm::kNfkc), "fi");
  EXPECT_EQ(in_form("\xEF\xAC\x81\xC3\xA9", NormalForm::kNfkd), "fie\xCC\x81");
}

// Composing text that was taken apart goes through every character; composing
// the text itself skips what stands.
TEST(UnicodeText, ComposesTheSameByTheShortWay) {
  std::mt19937 random(7);
  const std::pair<int, int> ranges[] = {
      {0x20, 0x7E},
      {0xC0, 0x17F},
      {0x300, 0x345},
      {0x370, 0x3FF},
      {0x900, 0x97F},
      {0xB80, 0xDFF},
      {0x1100, 0x11FF},
      {0x1E00, 0x1FFF},
      {0x2126, 0x212B},
      {0x3041, 0x30FF},
      {0xAC00, 0xAC80},
      {0xF900, 0xFAFF}};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
      const auto [low, high] = ranges[random() % std::size(ranges)];
      const auto code = static_cast<unsigned>(low) +
          static_cast<unsigned>(random()) %
              static_cast<unsigned>(high - low + 1);
      if (code < 0x80) {
        text += static_cast<char>(code);
      } else if (code < 0x800) {
        text += static_cast<char>(0xC0 | code >> 6);
        text += static_cast<char>(0x80 | (code & 0x3F));
      } else {
        text += static_cast<char>(0xE0 | code >> 12);
        text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        text += static_cast<char>(0x80 | (code & 0x3F));
      }
    }
    const std::string apart = in_form(text, NormalForm::kNfd);
    ASSERT_EQ(in_form(text, NormalForm::kNfc), in_form(apart, NormalForm::kNfc))
        << text;
  }
}

// Longer texts are put in order before they are mapped, shorter ones are not.
TEST(UnicodeText, FormsALongTextAsItsParts) {
  std::mt19937 random(11);
  const std::string letter = "\xE0\xA5\x98"; // stands in no form
  std::string before;
  for (int i = 0; i < 100; ++i) {
    before += letter;
  }
  const char* marks[] = {
      "\xCC\x81", // above
      "\xCC\xA3", // below
      "\xCD\x85", // iota below
      "\xCC\xB4", // through
      "\xE0\xBD\xB3", // of no class, becomes two that have some
      "\xCD\x84", // becomes two
      "\xEF\xBE\x9E", // a mark in the compatible forms alone
      "\xE1\x85\xA1", // a vowel of Hangul
      "e",
      "\xC3\xA9",
      "\xEF\xAC\x81"};
  for (const NormalForm form :
       {NormalForm::kNfc,
        NormalForm::kNfd,
        NormalForm::kNfkc,
        NormalForm::kNfkd}) {
    const std::string formed = in_form(before, form);
    for (int round = 0; round < 2000; ++round) {
      std::string text = letter;
      for (int i = 0; i < 20; ++i) {
        text += marks[random() % std::size(marks)];
      }
      ASSERT_EQ(in_form(before + text, form), formed + in_form(text, form))
          << text;
    }
  }
}

TEST(UnicodeText, OrdersALongRunOfMarksInFewSteps) {
  // By moving each past its neighbours these would be 2.5e11 steps.
  constexpr int kEach = 500000;
  const std::string above = "\xCC\x81";
  const std::string below = "\xCC\xA3";
  std::string text = "q";
  std::string ordered = "q";
  for (int i = 0; i < kEach; ++i) {
    text += above + below;
    ordered += below;
  }
  for (int i = 0; i < kEach; ++i) {
    ordered += above;
  }
  EXPECT_TRUE(in_form(text, NormalForm::kNfd) == ordered);
  EXPECT_TRUE(in_form(text, NormalForm::kNfc) == ordered);
}

TEST(UnicodeText, MakesLettersSmallOneByOne) {
  EXPECT_EQ(lower("AbCÄΣ漢"), "abcäσ漢");
  EXPECT_EQ(lower("\xC4\xB0"), "i\xCC\x87"); // dotted I
}

TEST(UnicodeText, CutsWhiteSpaceAtTheEnds) {
  EXPECT_EQ(without_left_space("\t\xC2\xA0\xE3\x80\x80 a "), "a ");
  EXPECT_EQ(without_right_space(" a \n\xE3\x80\x80"), " a");
  EXPECT_EQ(without_right_space(" \t"), "");
  EXPECT_EQ(without_left_space(""), "");
}

} // namespace
} // namespace holdfast
