// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/rows/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <type_traits>
#include <vector>

#include "tests/code_of.h"

namespace holdfast {
namespace {

void feed(Chain& chain, int64_t count) {
  chain.append(count);
  chain.commit(count);
}

/// The absolute blocks that a group holds.
std::vector<int64_t> held(const Chain& chain, int64_t group) {
  std::vector<int64_t> result;
  const HeldBlocks blocks = chain.held(group);
  for (int64_t block = 0; block < blocks.end.get() + 3; ++block) {
    if (blocks.holds(BlockIndex(block))) {
      result.push_back(block);
    }
  }
  EXPECT_EQ(blocks.count(), static_cast<int64_t>(result.size()));
  return result;
}

struct State {
  Position committed, written, floor;
  std::vector<std::vector<int64_t>> held; // [group]
  bool operator==(const State&) const = default;
};

State state(const Chain& chain) {
  State result{chain.committed(), chain.written(), chain.reusable_floor(), {}};
  for (int64_t group = 0; group < chain.groups(); ++group) {
    result.held.push_back(held(chain, group));
  }
  return result;
}

using testing::ElementsAre;

TEST(Chain, StartsEmptyAndHoldsNoBlock) {
  const Chain chain({{}, {.window = 8}, {.window = 8, .sinks = 4}}, 4);
  EXPECT_EQ(chain.committed(), Position(0));
  EXPECT_EQ(chain.written(), Position(0));
  for (int64_t group = 0; group < 3; ++group) {
    EXPECT_EQ(chain.held(group).count(), 0);
  }
}

// Blocks follow the positions exactly, whatever the growth step.
TEST(Chain, HoldsCeilOfPositionsOverBlockSizeAtEveryLength) {
  Chain chain({{}}, 64);
  for (int64_t n = 1; n <= 3 * 64 + 1; ++n) {
    feed(chain, 1);
    const int64_t blocks = chain.held(0).count();
    EXPECT_EQ(blocks, (n + 63) / 64);
    EXPECT_EQ(chain.sealed_end(), BlockIndex(n / 64));
  }
  for (const int64_t n : {255, 256, 257, 513}) {
    Chain at_once({{}}, 64);
    feed(at_once, n);
    EXPECT_EQ(at_once.committed(), Position(n));
    EXPECT_EQ(at_once.held(0).count(), (n + 63) / 64);
    EXPECT_EQ(
        code_of([&] { at_once.trim(Position(-1)); }),
        ErrorCode::kInvalidArgument);
  }
}

// A length and a number of blocks cannot be swapped.
TEST(Chain, KeepsLengthsAndCapacitiesOfDistinctTypes) {
  static_assert(!std::is_convertible_v<Position, BlockIndex>);
  static_assert(!std::is_convertible_v<BlockIndex, Position>);
  static_assert(!std::is_convertible_v<Position, int64_t>);
  static_assert(
      std::is_same_v<decltype(std::declval<Chain>().committed()), Position>);
  static_assert(std::is_same_v<decltype(HeldBlocks::end), BlockIndex>);
}

// Nothing special where the length first equals the window. With blocks of
// one position the content is exact: the window and one position to spare.
TEST(Chain, DropsExactlyTheOldestFromTheFirstPositionBehindTheWindow) {
  Chain chain({{.window = 8}}, 1);
  feed(chain, 5);
  for (int64_t n = 6; n <= 12; ++n) {
    feed(chain, 1);
    std::vector<int64_t> expected;
    for (int64_t p = std::max<int64_t>(0, n - 8); p < n; ++p) {
      expected.push_back(p);
    }
    EXPECT_EQ(held(chain, 0), expected) << n;
  }
}

TEST(Chain, ReleasesABlockWhenItsLastPositionIsBelowCommittedMinusWindow) {
  for (const int64_t window : {1, 7, 8, 9, 64, 100}) {
    for (const int64_t size : {1, 4, 64}) {
      Chain chain({{.window = window}}, size);
      for (int64_t n = 1; n <= 3 * window + 3 * size; ++n) {
        feed(chain, 1);
        for (int64_t b = 0; b * size < n; ++b) {
          const int64_t last = (b + 1) * size - 1;
          EXPECT_EQ(chain.held(0).holds(BlockIndex(b)), last >= n - window)
              << window << " " << size << " " << n;
        }
      }
    }
  }
}

TEST(Chain, ReleasesTheSameHoweverThePositionsCame) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const std::vector<GroupRule> groups{
        {}, {.window = 8}, {.window = 100, .sinks = 5}};
    Chain chunked(groups, 16);
    Chain whole(groups, 16);
    const int64_t total = 1 + random() % 500;
    for (int64_t done = 0; done < total;) {
      const int64_t n = std::min<int64_t>(1 + random() % 40, total - done);
      feed(chunked, n);
      done += n;
    }
    feed(whole, total);
    EXPECT_EQ(state(chunked), state(whole));
  }
}

TEST(Chain, PinsTheLeadingBlocksThatHoldSinks) {
  Chain chain({{.window = 8, .sinks = 5}}, 4);
  feed(chain, 40);
  EXPECT_THAT(held(chain, 0), ElementsAre(0, 1, 8, 9));
}

TEST(Chain, HasNoFloorWhileSinksCoverWhatTheWindowLeft) {
  Chain chain({{.window = 8, .sinks = 16}}, 4);
  feed(chain, 24);
  EXPECT_THAT(held(chain, 0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(chain.reusable_floor(), Position(0));
  feed(chain, 4);
  EXPECT_THAT(held(chain, 0), ElementsAre(0, 1, 2, 3, 5, 6));
  EXPECT_EQ(chain.reusable_floor(), Position(5 * 4 + 7));
}

TEST(Chain, ReleasesNothingBeforeCommit) {
  Chain chain({{.window = 8}}, 4);
  chain.append(100);
  EXPECT_EQ(chain.held(0).count(), 25);
  EXPECT_EQ(chain.sealed_end(), BlockIndex(0));
  chain.rollback();
  EXPECT_EQ(chain.held(0).count(), 0);
}

// A window that moved on refuses a trim, and nothing changes.
TEST(Chain, RefusesATrimBehindTheWindowAndStaysAsItWas) {
  Chain chain({{.window = 8}}, 1);
  feed(chain, 20);
  const State before = state(chain);
  EXPECT_EQ(code_of([&] { chain.trim(Position(4)); }), ErrorCode::kUnsupported);
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(16)); }), ErrorCode::kUnsupported);
  EXPECT_EQ(state(chain), before);
  Chain other = chain;
  feed(chain, 20);
  feed(other, 20);
  EXPECT_EQ(state(chain), state(other));
  EXPECT_EQ(held(chain, 0).size(), 8u);
}

// A mixed stack is trimmed as one or not at all.
TEST(Chain, TrimsAllGroupsToTheSameLengthOrNone) {
  Chain chain({{}, {.window = 8}, {.window = 3}}, 1);
  feed(chain, 30);
  // Window 3 keeps 27.., window 8 keeps 22..: 29 is the least for both.
  EXPECT_EQ(chain.reusable_floor(), Position(29));
  const State before = state(chain);
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(28)); }), ErrorCode::kUnsupported);
  EXPECT_EQ(state(chain), before);
  chain.trim(Position(29));
  for (int64_t group = 0; group < 3; ++group) {
    EXPECT_EQ(chain.held(group).end, BlockIndex(29));
  }
}

TEST(Chain, CanAlwaysComputeItsLastPositionAgain) {
  for (const int64_t window : {1, 2, 8, 64, 100}) {
    for (const int64_t size : {1, 4, 64}) {
      Chain chain({{}, {.window = window}}, size);
      for (int64_t n = 1; n <= 300; ++n) {
        feed(chain, 1);
        ASSERT_LE(chain.reusable_floor(), Position(n - 1));
      }
    }
  }
}

TEST(Chain, KeepsTheWholeWindowOfTheNextQueryAtItsFloor) {
  for (const int64_t window : {1, 2, 8, 64, 100}) {
    for (int64_t n = 1; n < 400; n += 7) {
      Chain chain({{.window = window}}, 16);
      feed(chain, n);
      chain.trim(chain.reusable_floor());
      const int64_t p = chain.committed().get();
      for (int64_t j = std::max<int64_t>(0, p - window + 1); j < p; ++j) {
        ASSERT_TRUE(chain.held(0).holds(BlockIndex(j / 16)));
      }
    }
  }
}

// The edges of a trim.
TEST(Chain, TrimsAtTheEdgesAsDocumented) {
  Chain chain({{}, {.window = 8}}, 4);
  feed(chain, 40);
  const State before = state(chain);
  chain.trim(Position(40)); // keeps all: nothing changes
  EXPECT_EQ(state(chain), before);
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(45)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(-5)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(state(chain), before);
  chain.trim(Position(0)); // empty, below every floor, and usable again
  EXPECT_EQ(state(chain), state(Chain({{}, {.window = 8}}, 4)));
  feed(chain, 40);
  EXPECT_EQ(state(chain), before);
}

TEST(Chain, RefusesATrimWithinAStep) {
  Chain chain({{}}, 4);
  feed(chain, 10);
  chain.append(2);
  EXPECT_EQ(
      code_of([&] { chain.trim(Position(9)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(chain.written(), Position(12));
}

// A draft that crosses the window and is cut leaves no trace.
TEST(Chain, AfterARejectedDraftEqualsAChainThatNeverSawIt) {
  const std::vector<GroupRule> groups{
      {}, {.window = 8}, {.window = 16, .sinks = 2}};
  for (const int64_t size : {1, 4}) {
    for (int64_t length = 1; length <= 40; ++length) {
      for (int64_t accepted = 0; accepted <= 5; ++accepted) {
        Chain speculative(groups, size);
        feed(speculative, length);
        speculative.append(5);
        speculative.commit(accepted);
        Chain plain(groups, size);
        feed(plain, length);
        if (accepted > 0) {
          feed(plain, accepted);
        }
        ASSERT_EQ(state(speculative), state(plain));
      }
    }
  }
}

TEST(Chain, RefusesCountsOutOfRangeAndStaysAsItWas) {
  Chain chain({{}}, 4);
  feed(chain, 10);
  chain.append(3);
  const State before = state(chain);
  for (const int64_t n : {-1, 4}) {
    EXPECT_EQ(code_of([&] { chain.commit(n); }), ErrorCode::kInvalidArgument);
  }
  for (const int64_t n : {int64_t{0}, int64_t{-3}, int64_t{1} << 40}) {
    EXPECT_EQ(code_of([&] { chain.append(n); }), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(state(chain), before);
}

TEST(Chain, RefusesToBeBuiltFromNonsense) {
  const auto build = [](std::vector<GroupRule> groups, int64_t size) {
    return code_of([&] { Chain(groups, size); });
  };
  EXPECT_EQ(build({}, 64), ErrorCode::kInvalidArgument);
  EXPECT_EQ(build({{}}, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(build({{.window = -1}}, 64), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      build({{.window = 4, .sinks = -1}}, 64), ErrorCode::kInvalidArgument);
  const int64_t more = kMaxPositions.get() + 1; // sums with it may overflow
  EXPECT_EQ(build({{.window = more}}, 64), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      build({{.window = 4, .sinks = more}}, 64), ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
