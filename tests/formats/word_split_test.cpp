// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/formats/word_split.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string>
words(const std::vector<WordStep>& steps, std::string_view text) {
  PatternMatcher matcher;
  std::vector<std::string> result;
  WordSplitter(steps, matcher).split(text, [&](std::string_view word) {
    result.emplace_back(word);
  });
  return result;
}

std::vector<std::string>
words(SplitBehavior behavior, std::string_view text, bool invert = false) {
  return words(
      std::vector<WordStep>{{SplitPattern::literal("-"), behavior, invert}},
      text);
}

// The example of the tokenizers library's own documentation.
constexpr const char* kText = "the-final--countdown";

TEST(WordSplit, DoesWithMatchesAsEachBehaviorSays) {
  EXPECT_THAT(
      words(SplitBehavior::kRemoved, kText),
      ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(
      words(SplitBehavior::kIsolated, kText),
      ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(
      words(SplitBehavior::kMergedWithPrevious, kText),
      ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(
      words(SplitBehavior::kMergedWithNext, kText),
      ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(
      words(SplitBehavior::kContiguous, kText),
      ElementsAre("the", "-", "final", "--", "countdown"));
}

TEST(WordSplit, TakesWhatStandsBetweenForTheMatchWhereInverted) {
  EXPECT_THAT(
      words(SplitBehavior::kRemoved, kText, true), ElementsAre("-", "-", "-"));
  EXPECT_THAT(
      words(SplitBehavior::kMergedWithNext, kText, true),
      ElementsAre("the-", "final-", "-", "countdown"));
}

TEST(WordSplit, GivesWhatBeginsOrEndsWithAMatch) {
  EXPECT_THAT(
      words(SplitBehavior::kMergedWithPrevious, "--a-"),
      ElementsAre("-", "-", "a-"));
  EXPECT_THAT(
      words(SplitBehavior::kMergedWithNext, "-a--"),
      ElementsAre("-a", "-", "-"));
  EXPECT_THAT(words(SplitBehavior::kRemoved, "--"), IsEmpty());
}

TEST(WordSplit, CutsWhatAnEarlierStepGave) {
  const std::vector<WordStep> steps{
      {SplitPattern::literal(" "), SplitBehavior::kMergedWithNext},
      {SplitPattern::own("\\p{N}"), SplitBehavior::kIsolated}};
  EXPECT_THAT(
      words(steps, "ab 12 c3d"),
      ElementsAre("ab", " ", "1", "2", " c", "3", "d"));
  EXPECT_THAT(words(std::vector<WordStep>(), "ab c"), ElementsAre("ab c"));
}

} // namespace
} // namespace holdfast
