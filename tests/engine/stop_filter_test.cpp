// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"
#include "holdfast/engine/stop_filter.h"

namespace holdfast {
namespace {

TEST(StopFilter, FindsAStopStringThatSpansPieces) {
  StopFilter filter({"END"});
  EXPECT_EQ(filter.push("text E"), "text ");
  EXPECT_EQ(filter.push("N"), "");
  EXPECT_FALSE(filter.stopped());
  EXPECT_EQ(filter.push("D and more"), "");
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.push("even more"), "");
  EXPECT_EQ(filter.flush(), "");
}

TEST(StopFilter, GivesBackWhatOnlyLookedLikeAStopString) {
  StopFilter filter({"abcd"});
  EXPECT_EQ(filter.push("xabc"), "x");
  EXPECT_EQ(filter.push("abce"), "abcabce");
  EXPECT_EQ(filter.push("ab"), "");
  EXPECT_EQ(filter.flush(), "ab");
  EXPECT_FALSE(filter.stopped());
}

TEST(StopFilter, TakesTheStopStringThatIsCompleteFirst) {
  StopFilter filter({"bcd", "c"});
  EXPECT_EQ(filter.push("abcd"), "ab");
  EXPECT_TRUE(filter.stopped());
}

TEST(StopFilter, TakesTheLongestOfThoseThatEndTogether) {
  StopFilter filter({"c", "abc"});
  EXPECT_EQ(filter.push("xab"), "x");
  EXPECT_EQ(filter.push("c"), "");
  EXPECT_TRUE(filter.stopped());
}

TEST(StopFilter, DoesNotDependOnHowTheTextIsCut) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += static_cast<char>('a' + random() % 3);
    }
    StopFilter whole({"abca", "bb", "ccab"});
    const std::string expected = whole.push(text) + whole.flush();
    StopFilter pieces({"abca", "bb", "ccab"});
    std::string got;
    for (size_t at = 0; at < text.size();) {
      const size_t take = 1 + random() % 5;
      got += pieces.push(text.substr(at, take));
      at += take;
    }
    got += pieces.flush();
    ASSERT_EQ(got, expected) << text;
    ASSERT_EQ(pieces.stopped(), whole.stopped());
  }
}

TEST(StopFilter, KeepsCharactersWhole) {
  StopFilter filter({"\xc3\xa9\xc3\xa8"}); // e acute, e grave
  EXPECT_EQ(filter.push("\xc3\xa9"), "");
  EXPECT_EQ(filter.push("\xc3\xaa"), "\xc3\xa9\xc3\xaa");
}

TEST(StopFilter, RefusesEmptyAndInvalidStopStrings) {
  EXPECT_THROW(StopFilter({"a", ""}), Error);
  EXPECT_THROW(StopFilter({"\xff"}), Error);
}

} // namespace
} // namespace holdfast
