// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Blocks that stay behind a window for rows to go back to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "holdfast/rows/chain.h"
#include "tests/code_of.h"

namespace holdfast {
namespace {

using testing::ElementsAre;

constexpr int64_t kBlock = 4;

void feed(Chain& chain, int64_t count) {
  chain.append(count);
  chain.commit(count);
}

std::vector<int64_t> held(const Chain& chain, int64_t group) {
  std::vector<int64_t> result;
  const HeldBlocks blocks = chain.held(group);
  for (int64_t block = 0; block < blocks.end.get() + 3; ++block) {
    if (blocks.holds(BlockIndex(block))) {
      result.push_back(block);
    }
  }
  EXPECT_EQ(blocks.count(), std::ssize(result));
  return result;
}

/// The lengths that a trim may leave, 0 left out.
std::vector<int64_t> lengths(const Chain& chain) {
  std::vector<int64_t> result;
  for (int64_t n = 1; n <= chain.committed().get(); ++n) {
    if (chain.reusable_length(Position(n)) == Position(n)) {
      result.push_back(n);
    }
  }
  return result;
}

/// Blocks as sets of numbers, one a group; shares no arithmetic with Chain.
class Plain {
 public:
  explicit Plain(std::vector<GroupRule> rules)
      : rules_(std::move(rules)), held_(rules_.size()), kept_(rules_.size()) {}

  void keep_by(std::vector<GroupRule> rules) {
    rules_ = std::move(rules);
  }
  void append(int64_t count) {
    for (auto& held : held_) {
      for (int64_t p = committed_; p < committed_ + count; ++p) {
        held.insert(p / kBlock);
      }
    }
  }
  void commit(int64_t accepted) {
    committed_ += accepted;
    for (size_t group = 0; group < rules_.size(); ++group) {
      std::erase_if(held_[group], [&](int64_t block) {
        return block * kBlock >= committed_ || !stays(group, block);
      });
    }
  }
  /// The query at that length, if that is left, finds all that it sees, and the
  /// block in which it is to be stored.
  bool may_leave(int64_t length) const {
    for (size_t group = 0; group < rules_.size(); ++group) {
      if (length % kBlock != 0 && !held_[group].contains(length / kBlock)) {
        return false;
      }
      const int64_t window = rules_[group].window;
      for (int64_t p = length - 1; p >= 0 && p > length - window; --p) {
        if (!held_[group].contains(p / kBlock)) {
          return false;
        }
      }
    }
    return true;
  }
  void trim(int64_t length) {
    committed_ = length;
    for (size_t group = 0; group < rules_.size(); ++group) {
      std::erase_if(held_[group], [&](int64_t block) {
        return block * kBlock >= committed_;
      });
      // What is in the window again is not kept to go back to.
      std::erase_if(kept_[group], [&](int64_t block) {
        return block * kBlock + kBlock > committed_ - rules_[group].window + 1;
      });
    }
  }
  int64_t floor() const {
    int64_t result = committed_;
    while (result > 0 && may_leave(result - 1)) {
      --result;
    }
    return result;
  }

  int64_t committed() const {
    return committed_;
  }
  std::vector<int64_t> held(size_t group) const {
    return {held_[group].begin(), held_[group].end()};
  }

 private:
  /// Says once of a block behind the window whether it is kept.
  bool stays(size_t group, int64_t block) {
    const GroupRule& rule = rules_[group];
    const int64_t last = block * kBlock + kBlock - 1;
    if (rule.window == 0 || last >= committed_ - rule.window ||
        block * kBlock < rule.sinks) {
      return true;
    }
    if (rule.keep_every > 0 && (block + 1) % rule.keep_every == 0) {
      kept_[group].insert(block);
    }
    return kept_[group].contains(block);
  }

  std::vector<GroupRule> rules_;
  std::vector<std::set<int64_t>> held_;
  std::vector<std::set<int64_t>> kept_;
  int64_t committed_ = 0;
};

void compare(const Chain& chain, const Plain& plain) {
  ASSERT_EQ(chain.committed(), Position(plain.committed()));
  for (int64_t group = 0; group < chain.groups(); ++group) {
    ASSERT_EQ(held(chain, group), plain.held(static_cast<size_t>(group)));
  }
  ASSERT_EQ(chain.reusable_floor(), Position(plain.floor()));
  int64_t longest = 0;
  for (int64_t n = 0; n <= plain.committed(); ++n) {
    longest = plain.may_leave(n) ? n : longest;
    ASSERT_EQ(chain.reusable_length(Position(n)), Position(longest)) << n;
  }
}

std::vector<GroupRule> drawn_rules(std::mt19937& random) {
  std::vector<GroupRule> rules;
  for (size_t i = 0; i <= random() % 3; ++i) {
    const int64_t windows[] = {0, 1, 2, 2, 2, 5, 8, 17};
    const int64_t sinks[] = {0, 0, 3, 9};
    const int64_t every[] = {0, 1, 2, 3, 5};
    rules.push_back(
        {.window = windows[random() % 8],
         .sinks = sinks[random() % 4],
         .starts = {},
         .keep_every = every[random() % 5]});
  }
  return rules;
}

TEST(ChainKeep, HoldsAndLeavesWhatSetsOfBlocksSayInRandomScripts) {
  std::mt19937 random(17);
  int64_t below_the_floor = 0;
  for (int script = 0; script < 100; ++script) {
    std::vector<GroupRule> rules = drawn_rules(random);
    Chain chain(rules, kBlock);
    Plain plain(rules);
    for (int operation = 0; operation < 40; ++operation) {
      const auto any = static_cast<int64_t>(random() % 1000);
      if (any % 8 == 0) {
        for (GroupRule& rule : rules) {
          rule.keep_every = static_cast<int64_t>(random() % 4);
        }
        chain.keep_by(rules);
        plain.keep_by(rules);
      } else if (any % 3 == 0) {
        const int64_t to = any % (plain.committed() + 1);
        const ErrorCode code =
            plain.may_leave(to) ? ErrorCode::kOk : ErrorCode::kUnsupported;
        below_the_floor += code == ErrorCode::kOk && to > 0 &&
            to < chain.reusable_floor().get();
        ASSERT_EQ(code_of([&] { chain.trim(Position(to)); }), code) << to;
        if (code == ErrorCode::kOk) {
          plain.trim(to);
        }
      } else {
        const int64_t count = 1 + any % 30;
        const int64_t accepted = any % 4 == 0 ? any % (count + 1) : count;
        chain.append(count);
        plain.append(count);
        for (size_t group = 0; group < rules.size(); ++group) {
          ASSERT_EQ(
              held(chain, static_cast<int64_t>(group)), plain.held(group));
        }
        chain.commit(accepted);
        plain.commit(accepted);
      }
      ASSERT_NO_FATAL_FAILURE(compare(chain, plain));
    }
  }
  EXPECT_GT(below_the_floor, 100); // else little was shown
}

TEST(ChainKeep, KeepsTheBlocksWhoseEndIsAMultipleAndServesTheirPositions) {
  Chain chain({{}, {.window = 2, .keep_every = 3}}, kBlock);
  feed(chain, 42);
  EXPECT_THAT(held(chain, 1), ElementsAre(2, 5, 8, 10));
  EXPECT_EQ(chain.reusable_floor(), Position(41));
  EXPECT_THAT(
      lengths(chain),
      ElementsAre(9, 10, 11, 12, 21, 22, 23, 24, 33, 34, 35, 36, 41, 42));
  EXPECT_EQ(chain.reusable_length(Position(32)), Position(24));
  EXPECT_EQ(chain.reusable_length(Position(8)), Position(0));
  chain.trim(Position(24));
  EXPECT_THAT(held(chain, 1), ElementsAre(2, 5));
  EXPECT_EQ(chain.reusable_floor(), Position(21));
  feed(chain, 18);
  EXPECT_THAT(held(chain, 1), ElementsAre(2, 5, 8, 10));
}

TEST(ChainKeep, RefusesALengthBetweenKeptBlocksAndNamesTheOneBelow) {
  Chain chain({{.window = 2, .keep_every = 3}}, kBlock);
  feed(chain, 42);
  try {
    chain.trim(Position(30));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(
        std::string(error.what()).find("0, 24 or at least 41 positions"),
        std::string::npos)
        << error.what();
  }
  EXPECT_EQ(chain.committed(), Position(42));
  EXPECT_THAT(held(chain, 0), ElementsAre(2, 5, 8, 10));
}

// A window beside it must be whole as well.
TEST(ChainKeep, GoesBackNoFurtherThanTheWindowOfAnotherGroup) {
  Chain chain({{.window = 2, .keep_every = 1}, {.window = 9}}, kBlock);
  feed(chain, 42);
  // Window 9 keeps 32 and later ones; all blocks of the other group are there.
  EXPECT_EQ(chain.reusable_floor(), Position(40));
  EXPECT_THAT(lengths(chain), ElementsAre(40, 41, 42));
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(36)); }), ErrorCode::kUnsupported);
}

TEST(ChainKeep, ServesALongerWindowFromNeighboursThatWereKept) {
  Chain chain({{.window = 6, .keep_every = 1}}, kBlock);
  feed(chain, 42);
  EXPECT_EQ(chain.reusable_floor(), Position(0));
  EXPECT_EQ(lengths(chain).size(), 42u);
  Chain gaps({{.window = 6, .keep_every = 2}}, kBlock);
  feed(gaps, 42);
  // A window of 6 needs two blocks or more.
  EXPECT_THAT(held(gaps, 0), ElementsAre(1, 3, 5, 7, 9, 10));
  EXPECT_EQ(gaps.reusable_floor(), Position(41));
  EXPECT_THAT(lengths(gaps), ElementsAre(41, 42));
}

// What a cold run would hold densely is not served from what was converted.
TEST(ChainKeep, KeepsToTheFloorOfThePrecision) {
  Chain chain(
      {{.starts = {Position(15)}}, {.window = 2, .keep_every = 1}}, kBlock);
  feed(chain, 15);
  for (int64_t group = 0; group < 2; ++group) {
    chain.enter_due_phase(group);
  }
  feed(chain, 20);
  EXPECT_EQ(chain.reusable_floor(), Position(15));
  EXPECT_EQ(chain.reusable_length(Position(14)), Position(0));
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(12)); }), ErrorCode::kUnsupported);
  chain.trim(Position(16));
  chain.trim(Position(15));
  EXPECT_THAT(held(chain, 1), ElementsAre(0, 1, 2, 3));
}

TEST(ChainKeep, LeavesNoPartOfASpanInAKeptBlock) {
  Chain chain({{.window = 2, .keep_every = 2}}, kBlock);
  feed(chain, 5);
  const std::vector<BidirectionalSpan> spans{{Position(6), Position(15)}};
  chain.append(20, spans);
  chain.commit(20);
  feed(chain, 10);
  // Blocks 1, 3, 5 and 7: lengths 5 to 8, of which 7 and 8 cut the span, 13 to
  // 16, of which 15 and 16 do not, 21 to 24 and 29 to 32.
  EXPECT_THAT(
      lengths(chain),
      ElementsAre(5, 6, 15, 16, 21, 22, 23, 24, 29, 30, 31, 32, 33, 34, 35));
  EXPECT_EQ(chain.reusable_length(Position(14)), Position(6));
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(13)); }), ErrorCode::kUnsupported);
  chain.trim(Position(6));
  EXPECT_TRUE(chain.spans().empty());
}

TEST(ChainKeep, ForgetsAllWhenTrimmedToNothing) {
  Chain chain({{.window = 2, .keep_every = 2}}, kBlock);
  feed(chain, 40);
  chain.trim(Position(0));
  EXPECT_TRUE(held(chain, 0).empty());
  feed(chain, 14);
  EXPECT_THAT(held(chain, 0), ElementsAre(1, 3));
}

TEST(ChainKeep, ReleasesTheSameHoweverThePositionsCame) {
  Chain steps({{.window = 2, .keep_every = 2}}, kBlock);
  Chain whole = steps;
  for (int i = 0; i < 37; ++i) {
    feed(steps, 1);
  }
  feed(whole, 37);
  EXPECT_EQ(held(steps, 0), held(whole, 0));
  EXPECT_EQ(lengths(steps), lengths(whole));
}

TEST(ChainKeep, RefusesRulesUnderWhichItCannotGoOn) {
  Chain chain({{.window = 2, .keep_every = 2}}, kBlock);
  feed(chain, 20);
  using Rules = std::vector<GroupRule>;
  for (const Rules& rules :
       {Rules{},
        Rules{{.window = 3}},
        Rules{{.window = 2, .sinks = 1}},
        Rules{{.window = 2, .starts = {Position(3)}}},
        Rules{{.window = 2, .keep_every = -1}},
        Rules{{.window = 2}, {}}}) {
    EXPECT_EQ(
        code_of([&] { chain.keep_by(rules); }), ErrorCode::kInvalidArgument);
  }
  chain.keep_by({{.window = 2}});
  feed(chain, 20);
  EXPECT_THAT(held(chain, 0), ElementsAre(1, 3, 9));
  EXPECT_EQ(
      code_of([] { Chain({{.window = 2, .keep_every = -1}}, kBlock); }),
      ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
