// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "stamped.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using Keep = std::vector<GroupRule>;
using Ids = std::vector<RowId>;
using Appends = std::vector<RowAppend>;

std::vector<GroupRule> mixed() {
  return {{}, {.window = 8}, {.window = 100, .sinks = 4}};
}

// An exact multiple of the block size allocates nothing early.
TEST(Chains, HoldCeilOfPositionsBlocksAtEveryLength) {
  Stamped rows(Keep{{}});
  const RowId row = rows.chains.add();
  EXPECT_EQ(rows.pool.live_bytes(), Bytes(0));
  for (int64_t n = 1; n <= 3 * kBlockTokens; ++n) {
    rows.feed(row, 1, 1000);
    const int64_t blocks = (n + kBlockTokens - 1) / kBlockTokens;
    ASSERT_EQ(rows.pool.live_blocks(), blocks);
    ASSERT_EQ(std::ssize(rows.chains.blocks(row, 0)), blocks);
  }
}

// Slots beyond the written positions are zero, never old bytes.
TEST(Chains, StartEveryBlockFromZero) {
  Stamped rows(Keep{{}});
  const RowId old = rows.chains.add();
  rows.feed(old, 640, 1);
  rows.chains.remove(old);
  const RowId row = rows.chains.add();
  rows.feed(row, 65, 7000);
  const BlockRef& tail = rows.chains.blocks(row, 0)[1];
  EXPECT_EQ(stamp_in(tail.image(), 64), 7064u);
  for (int64_t p = 65; p < 128; ++p) {
    EXPECT_EQ(stamp_in(tail.image(), p), 0u);
  }
}

TEST(Chains, ShareFullBlocksWithAForkAndCopyTheTail) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 150, 1000);
  const Bytes before = rows.pool.live_bytes();
  const RowId fork = rows.chains.fork(row);
  EXPECT_EQ(rows.pool.live_bytes(), before + Bytes(3 * kStampedImage));
  EXPECT_EQ(rows.content(fork), rows.content(row));
  EXPECT_TRUE(rows.chains.blocks(row, 0)[0] == rows.chains.blocks(fork, 0)[0]);
  EXPECT_FALSE(rows.chains.blocks(row, 0)[2] == rows.chains.blocks(fork, 0)[2]);
}

TEST(Chains, LetForksDivergeWithoutTouchingEachOther) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 150, 1000);
  const RowId fork = rows.chains.fork(row);
  const auto before = rows.content(row);
  rows.feed(fork, 200, 5000);
  EXPECT_EQ(rows.content(row), before);
  rows.feed(row, 10, 9000);
  EXPECT_EQ(rows.content(row)[0][150], 9150u);
  EXPECT_EQ(rows.content(fork)[0][150], 5150u);
  EXPECT_EQ(rows.content(fork)[0][149], 1149u);
}

TEST(Chains, CopyASealedTailBeforeTheNextAppend) {
  Stamped rows(Keep{{}});
  const RowId row = rows.chains.add();
  rows.feed(row, 128, 1000);
  const RowId fork = rows.chains.fork(row);
  const auto before = rows.content(row);
  rows.chains.trim(fork, Position(70));
  EXPECT_EQ(rows.pool.live_blocks(), 2); // a trim copies nothing
  rows.feed(fork, 5, 5000);
  EXPECT_EQ(rows.pool.live_blocks(), 3);
  EXPECT_EQ(rows.content(row), before);
  EXPECT_EQ(rows.content(fork)[0][69], 1069u);
  EXPECT_EQ(rows.content(fork)[0][70], 5070u);
  rows.chains.check_invariants();
}

TEST(Chains, ForkARowWhoseWindowOfOneLeftNoTail) {
  Stamped rows(Keep{{.window = 1}});
  const RowId row = rows.chains.add();
  rows.feed(row, 200, 1000);
  rows.chains.trim(row, Position(192));
  EXPECT_EQ(rows.pool.live_blocks(), 0);
  const RowId fork = rows.chains.fork(row);
  rows.feed(fork, 3, 1000);
  EXPECT_EQ(rows.content(fork)[0][194], 1194u);
}

TEST(Chains, AppendInPlaceAfterATrimWithinTheOpenTail) {
  Stamped rows(Keep{{}});
  const RowId row = rows.chains.add();
  rows.feed(row, 100, 1000);
  rows.chains.trim(row, Position(80));
  const std::byte* tail = rows.chains.blocks(row, 0)[1].image();
  rows.feed(row, 1, 5000);
  EXPECT_EQ(rows.chains.blocks(row, 0)[1].image(), tail);
  EXPECT_EQ(rows.content(row)[0].size(), 81u);
  EXPECT_EQ(rows.content(row)[0][80], 5080u);
}

// The refused trim leaves everything as it was, and the row usable.
TEST(Chains, RefuseATrimBehindAWindowAndChangeNothing) {
  Stamped rows(Keep{{.window = 8}});
  Stamped plain(Keep{{.window = 8}});
  const RowId row = rows.chains.add();
  const RowId other = plain.chains.add();
  rows.feed(row, 200, 1000);
  plain.feed(other, 200, 1000);
  const std::string before = rows.dump();
  EXPECT_EQ(
      code_of([&] { rows.chains.trim(row, Position(64)); }),
      ErrorCode::kUnsupported);
  EXPECT_EQ(rows.dump(), before);
  rows.feed(row, 20, 1000);
  plain.feed(other, 20, 1000);
  EXPECT_EQ(rows.content(row), plain.content(other));
}

// All groups are cut alike.
TEST(Chains, CutEveryGroupToTheSameLength) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 300, 1000);
  const Position floor = rows.chains.chain(row).reusable_floor();
  EXPECT_EQ(floor, Position(3 * 64 + 99)); // window 100 lets three blocks go
  EXPECT_EQ(
      code_of([&] { rows.chains.trim(row, floor - Position(1)); }),
      ErrorCode::kUnsupported);
  rows.chains.trim(row, floor);
  for (int64_t group = 0; group < 3; ++group) {
    EXPECT_EQ(rows.chains.blocks(row, group).size(), 5u);
    EXPECT_EQ(rows.content(row)[static_cast<size_t>(group)].back(), 1290u);
  }
}

// Trimmed to nothing, a row is empty and usable.
TEST(Chains, EmptyARowThatIsTrimmedToZero) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 300, 1000);
  rows.chains.trim(row, Position(0));
  EXPECT_EQ(rows.pool.live_bytes(), Bytes(0));
  EXPECT_EQ(rows.chains.chain(row).reusable_floor(), Position(0));
  rows.feed(row, 10, 2000);
  EXPECT_EQ(rows.content(row)[2][0], 2000u);
}

// Rows that idle hold no more than their window.
TEST(Chains, LetIdleRowsHoldOnlyTheirWindow) {
  const int64_t window = 64;
  const int64_t chunk = 128;
  // Four rows of a window that may straddle two blocks, and their chunks.
  const Bytes budget((4 * 2 + 4 * (chunk / kBlockTokens + 1)) * kStampedImage);
  Stamped rows(Keep{{.window = window}}, budget);
  Appends all;
  for (int i = 0; i < 4; ++i) {
    all.push_back({rows.chains.add(), chunk});
    rows.feed(all.back().row, 50 + 30 * i, 1000);
  }
  for (int64_t i = 0; i < 5 * window; ++i) {
    rows.feed(all[0].row, 1, 1000);
  }
  for (const RowAppend& append : all) {
    EXPECT_LE(rows.chains.retained_bytes(append.row), Bytes(3 * kStampedImage));
  }
  rows.chains.begin(all).commit_all();
}

// A row cancelled during its prefill is gone and costs nothing.
TEST(Chains, DropACancelledRowAtOnceAndOnlyThat) {
  Stamped rows(mixed());
  const RowId shorter = rows.chains.add();
  const RowId longer = rows.chains.add();
  rows.chains.begin(Appends{{shorter, 3}, {longer, 300}}).commit_all();
  const Bytes kept = rows.chains.retained_bytes(shorter);
  EXPECT_TRUE(rows.chains.remove(longer));
  EXPECT_FALSE(rows.chains.remove(longer));
  EXPECT_THAT(rows.chains.order(), ElementsAre(shorter));
  EXPECT_EQ(rows.chains.chain(shorter).committed(), Position(3));
  EXPECT_EQ(rows.pool.live_bytes(), kept);
  EXPECT_EQ(
      code_of([&] {
        rows.chains.begin(Appends{{longer, 1}});
      }),
      ErrorCode::kNotFound);
}

TEST(Chains, MoveRowsBetweenBatchesWithoutTouchingBytes) {
  Stamped rows(mixed());
  Chains other(rows.pool, mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  const RowId c = rows.chains.add();
  rows.feed(a, 70, 1000);
  rows.feed(b, 300, 2000);
  rows.feed(c, 10, 3000);
  const auto image = rows.chains.blocks(b, 0)[0].image();
  const Bytes live = rows.pool.live_bytes();
  const Ids moved = other.adopt(rows.chains, Ids{c, b});
  EXPECT_THAT(rows.chains.order(), ElementsAre(a));
  EXPECT_EQ(other.order().size(), 2u);
  EXPECT_EQ(other.chain(moved[0]).committed(), Position(10));
  EXPECT_EQ(other.blocks(moved[1], 0)[0].image(), image);
  EXPECT_EQ(rows.pool.live_bytes(), live);
  EXPECT_FALSE(rows.chains.contains(b));
  // And all of them back, behind the row that stayed.
  const Ids back = rows.chains.adopt(other, other.order());
  EXPECT_THAT(rows.chains.order(), ElementsAre(a, back[0], back[1]));
  EXPECT_EQ(other.order().size(), 0u);
  EXPECT_EQ(rows.content(back[1])[0][299], 2299u);
}

TEST(Chains, RefuseMovesThatCannotBeDoneAndChangeNothing) {
  Stamped rows(mixed());
  Stamped foreign(mixed());
  Chains other(rows.pool, mixed());
  Chains unlike(rows.pool, {{}, {}, {}});
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  rows.feed(a, 70, 1000);
  const std::string before = rows.dump();
  const auto adopt = [&](Chains& to, const Ids& ids) {
    return code_of([&] { to.adopt(rows.chains, ids); });
  };
  EXPECT_EQ(adopt(other, {a, a}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(adopt(other, {a, RowId{}}), ErrorCode::kNotFound);
  EXPECT_EQ(adopt(rows.chains, {a}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(adopt(foreign.chains, {a}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(adopt(unlike, {a}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] { rows.chains.reorder(Ids{b}); }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(rows.dump(), before);
}

TEST(Chains, RefuseAForkOverTheBudgetAndChangeNothing) {
  Stamped rows(mixed(), Bytes(5 * kStampedImage));
  const RowId row = rows.chains.add();
  rows.feed(row, 10, 1000);
  const std::string before = rows.dump();
  EXPECT_EQ(code_of([&] { rows.chains.fork(row); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(rows.dump(), before);
}

TEST(Chains, NeedAPoolWithAKindAGroup) {
  BlockPool pool({Bytes(kStampedImage)});
  EXPECT_EQ(
      code_of([&] { Chains(pool, mixed()); }), ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
