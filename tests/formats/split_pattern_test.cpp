// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/formats/split_pattern.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string>
matches(std::string_view pattern, std::string_view text) {
  const SplitPattern compiled = SplitPattern::compile(pattern).value();
  PatternMatcher matcher;
  std::vector<std::string> result;
  for (size_t place = 0; place < text.size();) {
    const auto match = matcher.find(compiled, text, place);
    if (!match) {
      break;
    }
    result.emplace_back(text.substr(match->begin, match->end - match->begin));
    place = match->end;
  }
  return result;
}

std::string refusal(std::string_view pattern) {
  const auto compiled = SplitPattern::compile(pattern);
  EXPECT_FALSE(compiled.ok()) << pattern;
  EXPECT_EQ(compiled.status().code(), ErrorCode::kUnsupported);
  return compiled.status().text();
}

TEST(SplitPattern, KnowsLettersAndDigitsOfEveryScript) {
  EXPECT_THAT(
      matches("\\p{L}+|\\p{N}{1,3}", "Straße 12345 дом٣"),
      ElementsAre("Straße", "123", "45", "дом", "٣"));
  EXPECT_THAT(matches("\\p{Han}+", "ab漢字か"), ElementsAre("漢字"));
  EXPECT_THAT(matches("\\P{L}", "aé7"), ElementsAre("7"));
}

TEST(SplitPattern, TakesWhiteSpaceAsUnicodeHasItAndNoMore) {
  // U+0085, U+00A0 and U+3000 are; U+180E was once, and PCRE2 still says so.
  EXPECT_THAT(
      matches("\\s+", "a\xC2\x85\xC2\xA0\xE3\x80\x80z\xE1\xA0\x8E"),
      ElementsAre("\xC2\x85\xC2\xA0\xE3\x80\x80"));
  EXPECT_THAT(matches("[\\S]", "\v\xE1\xA0\x8E "), ElementsAre("\xE1\xA0\x8E"));
  EXPECT_THAT(matches("[^\\s]", " \x1F\xE2\x80\xAF"), ElementsAre("\x1F"));
  EXPECT_THAT(matches("\\v", "\n\v"), ElementsAre("\v"));
}

TEST(SplitPattern, LeavesTheLastSpaceToTheWordBehindIt) {
  EXPECT_THAT(
      matches(" ?[a-z]+|\\s+(?!\\S)|\\s+", "  ab   "),
      ElementsAre(" ", " ab", "   "));
}

TEST(SplitPattern, FoldsCaseWhereAGroupSaysSo) {
  EXPECT_THAT(
      matches("(?i:'s|'ll)|x", "'S'lL'\xC5\xBFX"),
      ElementsAre("'S", "'lL", "'\xC5\xBF"));
}

TEST(SplitPattern, ReadsEscapesInsideAndOutsideClasses) {
  EXPECT_THAT(
      matches("[\\[\\]\\-\\/\\u0041^]|\\.|\\x42", "[-a/A^.xB]"),
      ElementsAre("[", "-", "/", "A", "^", ".", "B", "]"));
}

TEST(SplitPattern, RefusesWhatIsReadDifferentlyElsewhere) {
  for (const char* pattern :
       {"^a",      "a$",      "\\w+",    "\\h",      "\\bx",   "\\R",
        "\\X",     "\\Ka",    "a\\1",    "[a&&b]",   "[a[b]]", "[[:alpha:]]",
        "[\\s-x]", "[+-\\s]", "[]a]",    "\\p{Foo}", "\\pL",   "\\p{^L}",
        "(?i)a",   "(?x:a)",  "(?<n>a)", "(*UCP)a",  "a**",    "a+?+",
        "a{1,3}+", "a{,3}",   "a{1000}", "a{2}{3}",  "\\xE9",  "\\u12",
        "a\xFF",   "(a",      "a)",      "[a",       "a\\",    "\\Qa\\E"}) {
    EXPECT_THAT(refusal(pattern), HasSubstr("expected")) << pattern;
  }
  EXPECT_EQ(
      refusal("ab\\w"),
      "expected an escape of s S d D n r t f v p P u x or a sign at byte 3 of "
      "the pattern, got \"w\"");
}

TEST(SplitPattern, RefusesGroupsThatRepeatWithoutEnd) {
  EXPECT_THAT(refusal("(a+)+b"), HasSubstr("a group that is not repeated"));
  EXPECT_THAT(refusal("(?:a|a)*b"), HasSubstr("not repeated"));
  EXPECT_THAT(refusal("(?:ab){2}"), HasSubstr("not repeated"));
}

TEST(SplitPattern, RefusesPatternsThatMatchNoCharacter) {
  for (const char* pattern : {"a*", "a?|b", "(?=a)", "(?:)", "|a"}) {
    EXPECT_THAT(refusal(pattern), HasSubstr("needs a character")) << pattern;
  }
  EXPECT_THAT(refusal(""), HasSubstr("1 to 65536 bytes"));
  EXPECT_THAT(refusal(std::string(65537, 'a')), HasSubstr("got 65537"));
}

TEST(SplitPattern, EndsAMatchThatTakesTooManySteps) {
  const SplitPattern pattern = SplitPattern::compile("a*a*a*a*a*[cd]").value();
  PatternMatcher matcher;
  const std::string text(4000, 'a');
  try {
    matcher.find(pattern, text, 0);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget);
    EXPECT_THAT(error.what(), HasSubstr("within its limits"));
  }
}

TEST(SplitPattern, MatchesRunsOfAMegabyte) {
  const std::string letters(1 << 20, 'A');
  EXPECT_THAT(matches("[A-Z]*[a-z]+|[A-Z]+", letters), ElementsAre(letters));
  const std::string spaces(1 << 20, ' ');
  EXPECT_THAT(
      matches("\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", spaces), ElementsAre(spaces));
}

TEST(SplitPattern, FindsALiteralAsItIs) {
  const SplitPattern dot = SplitPattern::literal(".");
  PatternMatcher matcher;
  const auto match = matcher.find(dot, "ab.", 0);
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->begin, 2u);
  EXPECT_FALSE(matcher.find(dot, "ab", 0).has_value());
}

} // namespace
} // namespace holdfast
