// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/path.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/code_of.h"
#include "tests/prefix/prefix_rig.h"

namespace holdfast {
namespace {

Text random_text(std::mt19937& random) {
  Text text;
  const int64_t size = 1 + static_cast<int64_t>(random() % 12);
  for (int64_t i = 0; i < size; ++i) {
    text.tokens.push_back(static_cast<int32_t>(random() % 2));
  }
  const auto begin = static_cast<int64_t>(random() % 8);
  if (begin < size && random() % 2 == 0) {
    text.marks.push_back(
        {Position(begin),
         Position(begin + 1 + int64_t(random() % 9)),
         false,
         std::string(1, "ab"[random() % 2])});
  }
  return text;
}

/// Position by position, as path.h says.
int64_t plain_run(const Text& a, const Text& b) {
  int64_t run = 0;
  const auto mark_at = [](const Text& text, int64_t position) {
    for (const TokenMark& mark : text.marks) {
      if (mark.begin.get() == position) {
        return mark.digest + std::to_string((mark.end - mark.begin).get());
      }
    }
    return std::string();
  };
  while (run < std::min(a.size(), b.size()) &&
         a.tokens[size_t(run)] == b.tokens[size_t(run)] &&
         mark_at(a, run) == mark_at(b, run)) {
    ++run;
  }
  return run;
}

TEST(Path, HasTheRunThatPositionsHaveInCommon) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const Text a = random_text(random);
    const Text b = random_text(random);
    const PathBlocks one(a.path());
    const PathBlocks two(b.path());
    ASSERT_EQ(common_run(one[0], two[0]), plain_run(a, b));
    ASSERT_EQ(compare(one[0], two[0]), -compare(two[0], one[0]));
    if (plain_run(a, b) == a.size() && a.size() < b.size()) {
      ASSERT_LT(compare(one[0], two[0]), 0);
    }
  }
}

TEST(Path, IsOrderedSoThatTheLongestRunIsNextToIt) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Text> texts;
    for (int i = 0; i < 30; ++i) {
      texts.push_back(random_text(random));
    }
    const Text asked = random_text(random);
    const PathBlocks ask(asked.path());
    int64_t longest = 0;
    for (const Text& text : texts) {
      longest = std::max(longest, plain_run(text, asked));
    }
    std::sort(texts.begin(), texts.end(), [](const Text& a, const Text& b) {
      return compare(PathBlocks(a.path())[0], PathBlocks(b.path())[0]) < 0;
    });
    const auto at =
        std::partition_point(texts.begin(), texts.end(), [&](const Text& text) {
          return compare(PathBlocks(text.path())[0], ask[0]) < 0;
        });
    int64_t near = at == texts.end() ? 0 : plain_run(*at, asked);
    if (at != texts.begin()) {
      near = std::max(near, plain_run(*std::prev(at), asked));
    }
    ASSERT_EQ(near, longest);
  }
}

TEST(Path, RefusesMarksThatSayNothingOrOverlap) {
  Text text = text_of(100);
  const auto refused = [&](std::vector<TokenMark> marks) {
    text.marks = std::move(marks);
    return code_of([&] { require_path(text.path(), "[test]"); }) ==
        ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused({{Position(3), Position(3), true}}));
  EXPECT_TRUE(refused({{Position(3), Position(5)}}));
  EXPECT_TRUE(refused({{Position(3), Position(101), true}}));
  EXPECT_TRUE(refused({{Position(100), Position(120), false, "x"}}));
  EXPECT_TRUE(refused(
      {{Position(3), Position(9), true}, {Position(8), Position(9), true}}));
  EXPECT_FALSE(refused(
      {{Position(3), Position(9), true},
       {Position(9), Position(200), false, "x"}}));
}

TEST(Path, KnowsTheMarksOfABlockFromOtherBytes) {
  Text text = text_of(100);
  text.marks = {
      {Position(3), Position(9), true}, {Position(60), Position(70), true}};
  const auto marks = block_marks(text.path());
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_TRUE(marks[1].empty());
  EXPECT_TRUE(are_block_marks(marks[0], 64));
  EXPECT_FALSE(are_block_marks(marks[0], 60));
  EXPECT_FALSE(are_block_marks(marks[0].substr(1), 64));
  EXPECT_FALSE(are_block_marks(marks[0] + marks[0], 64));
}

} // namespace
} // namespace holdfast
