// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What rows cost that are moved, copied, dropped and captured between steps:
// handles, and of bytes a fork's tail.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "stamped.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using Ids = std::vector<RowId>;
using Appends = std::vector<RowAppend>;

std::vector<GroupRule> mixed() {
  return {{}, {.window = 8}, {.window = 100, .sinks = 4}};
}

/// Bytes that a call allocates and copies.
struct Cost {
  explicit Cost(const BlockPool& of) : pool(of) {}
  Bytes allocated() const {
    return pool.allocated_bytes() - allocated_before;
  }
  Bytes copied() const {
    return pool.copied_bytes() - copied_before;
  }
  const BlockPool& pool;
  Bytes allocated_before = pool.allocated_bytes();
  Bytes copied_before = pool.copied_bytes();
};

constexpr Bytes kTails{3 * kStampedImage}; // of three groups

TEST(BatchOperations, CopyNothingButAForksTail) {
  Stamped rows(mixed());
  Chains other(rows.pool, mixed());
  Ids ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(rows.chains.add());
    rows.feed(ids.back(), 150 + i, 1000 * (i + 1));
  }
  {
    const Cost cost(rows.pool);
    rows.chains.reorder(Ids{ids[2], ids[0], ids[3], ids[1]});
    other.adopt(rows.chains, Ids{ids[3], ids[0]});
    rows.chains.adopt(other, other.order());
    rows.chains.filter(Ids{rows.chains.order()[3], ids[1], ids[2]});
    rows.chains.trim(ids[1], Position(151));
    rows.chains.remove(ids[1]);
    EXPECT_EQ(cost.allocated(), Bytes(0));
    EXPECT_EQ(cost.copied(), Bytes(0));
  }
  {
    const Cost cost(rows.pool);
    rows.chains.fork(ids[2]);
    EXPECT_EQ(cost.copied(), kTails);
    EXPECT_EQ(cost.allocated(), kTails);
    other.copy(rows.chains, Ids{ids[2]});
    EXPECT_EQ(cost.copied(), kTails + kTails);
  }
  const RowId whole = rows.chains.add();
  rows.feed(whole, 192, 1);
  const Cost cost(rows.pool);
  rows.chains.fork(whole);
  rows.chains.add(rows.chains.capture(whole));
  EXPECT_EQ(cost.allocated(), Bytes(0)); // no tail
}

TEST(BatchOperations, LeaveTheSourceOfACopyAsItIs) {
  Stamped rows(mixed());
  Chains other(rows.pool, mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  rows.feed(a, 70, 1000);
  rows.feed(b, 150, 2000);
  const auto before = stamps_of(rows.chains, b);
  const Ids names = other.copy(rows.chains, Ids{b, a});
  EXPECT_THAT(rows.chains.order(), ElementsAre(a, b));
  EXPECT_EQ(stamps_of(rows.chains, b), before);
  EXPECT_EQ(stamps_of(other, names[0]), before);
  EXPECT_EQ(other.chain(names[1]).committed(), Position(70));
  // Both go on for themselves, and a copy may be of the batch itself.
  rows.feed(b, 5, 7000);
  EXPECT_EQ(stamps_of(other, names[0]), before);
  const Ids again = rows.chains.copy(rows.chains, rows.chains.order());
  EXPECT_THAT(rows.chains.order(), ElementsAre(a, b, again[0], again[1]));
  rows.chains.check_invariants();
  other.check_invariants();
}

TEST(BatchOperations, KeepTheRowsOfAFilterInItsOrder) {
  Stamped rows(mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  const RowId c = rows.chains.add();
  rows.feed(a, 70, 1000);
  rows.feed(b, 70, 2000);
  rows.feed(c, 70, 3000);
  rows.chains.filter(Ids{c, a});
  EXPECT_THAT(rows.chains.order(), ElementsAre(c, a));
  EXPECT_FALSE(rows.chains.contains(b));
  EXPECT_EQ(rows.content(c)[0][69], 3069u);
  rows.chains.filter(rows.chains.order()); // keeps all
  EXPECT_THAT(rows.chains.order(), ElementsAre(c, a));
  rows.chains.filter(Ids{});
  EXPECT_EQ(rows.pool.live_blocks(), 0);
}

TEST(BatchOperations, RefuseRepeatedAndUnknownRowsBeforeAnythingChanges) {
  Stamped rows(mixed());
  Chains other(rows.pool, mixed());
  Chains unlike(rows.pool, {{}, {}, {}});
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  const RowId gone = rows.chains.add();
  rows.feed(a, 70, 1000);
  rows.chains.remove(gone);
  const std::string before = rows.dump();
  for (const Ids& ids : {Ids{a, b, a}, Ids{a, gone}, Ids{RowId{}}}) {
    const ErrorCode code =
        ids.size() == 3 ? ErrorCode::kInvalidArgument : ErrorCode::kNotFound;
    EXPECT_EQ(code_of([&] { rows.chains.filter(ids); }), code);
    EXPECT_EQ(code_of([&] { other.copy(rows.chains, ids); }), code);
    EXPECT_EQ(code_of([&] { rows.chains.reorder(ids); }), code);
  }
  EXPECT_EQ(
      code_of([&] { unlike.copy(rows.chains, Ids{a}); }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { rows.chains.capture(gone); }), ErrorCode::kNotFound);
  EXPECT_EQ(rows.dump(), before);
  EXPECT_TRUE(other.order().empty());
}

TEST(BatchOperations, CopyAllRowsOrNone) {
  Stamped rows(mixed(), Bytes(10 * kStampedImage));
  Chains other(rows.pool, mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  rows.feed(a, 10, 1000);
  rows.feed(b, 10, 1000);
  const std::string before = rows.dump();
  EXPECT_EQ(
      code_of([&] {
        other.copy(rows.chains, Ids{a, b});
      }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(rows.dump(), before);
  EXPECT_TRUE(other.order().empty());
  other.copy(rows.chains, Ids{a});
}

// A row leaves in the middle of its prefill; the others do not notice.
TEST(BatchOperations, LetARowLeaveDuringItsPrefill) {
  Stamped rows(mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  for (int chunk = 0; chunk < 3; ++chunk) {
    Transaction step = rows.chains.begin(Appends{{a, 50}, {b, 70}});
    stamp_step(*step.plan(), 1000);
    step.commit_all();
  }
  EXPECT_TRUE(rows.chains.remove(b));
  rows.feed(a, 50, 1000);
  EXPECT_EQ(rows.chains.chain(a).committed(), Position(200));
  EXPECT_EQ(rows.pool.live_bytes(), rows.chains.retained_bytes(a));
}

TEST(BatchOperations, CaptureARowThatNothingChangesAnyMore) {
  std::optional<Stamped> rows(std::in_place, mixed());
  const RowId row = rows->chains.add();
  rows->feed(row, 150, 1000);
  const CapturedRow captured = rows->chains.capture(row);
  const auto before = rows->content(row);
  EXPECT_EQ(captured.bytes(), rows->chains.retained_bytes(row));
  rows->feed(row, 30, 5000);
  rows->chains.trim(row, Position(170));
  rows->feed(row, 200, 6000);
  rows->chains.filter(Ids{});
  Stamped elsewhere(mixed());
  const RowId copy = elsewhere.chains.add(captured); // another pool: copied
  EXPECT_EQ(elsewhere.content(copy), before);
  const RowId back = rows->chains.add(captured);
  const RowId twice = rows->chains.add(captured);
  rows->feed(back, 10, 8000);
  EXPECT_EQ(rows->content(twice), before);
  EXPECT_EQ(rows->content(back)[0][149], 1149u);
  EXPECT_EQ(rows->content(back)[0][155], 8155u);
  rows->chains.check_invariants();
  rows.reset();
  EXPECT_EQ(stamp_in(captured.blocks[0][2].image(), 149), 1149u);
}

TEST(BatchOperations, RefuseACapturedRowOfOtherRules) {
  Stamped rows(mixed());
  Stamped other({{}, {.window = 9}, {.window = 100, .sinks = 4}});
  const RowId row = rows.chains.add();
  rows.feed(row, 70, 1000);
  const CapturedRow captured = rows.chains.capture(row);
  EXPECT_EQ(
      code_of([&] { other.chains.add(captured); }),
      ErrorCode::kInvalidArgument);
  EXPECT_TRUE(other.chains.order().empty());
  BlockPool larger(std::vector<Bytes>(3, Bytes(2 * kStampedImage)));
  Chains elsewhere(larger, mixed());
  EXPECT_EQ(
      code_of([&] { elsewhere.add(captured); }), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(elsewhere.order().empty());
}

TEST(BatchOperations, RefuseACapturedRowWhoseBlocksAreOthers) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 70, 1000);
  const CapturedRow captured = rows.chains.capture(row);
  Stamped other(mixed());
  const auto refused = [&](const auto& change) {
    CapturedRow changed = captured;
    change(changed.blocks);
    EXPECT_EQ(
        code_of([&] { other.chains.add(changed); }),
        ErrorCode::kInvalidArgument);
    EXPECT_TRUE(other.chains.order().empty());
    EXPECT_EQ(other.pool.live_blocks(), 0);
  };
  using Blocks = std::vector<std::vector<BlockRef>>;
  refused([](Blocks& blocks) { std::swap(blocks[0], blocks[1]); });
  refused([](Blocks& blocks) { blocks[0].pop_back(); });
  refused([](Blocks& blocks) { blocks[0][0] = BlockRef(); });
  refused([](Blocks& blocks) { blocks.pop_back(); });
  other.chains.add(captured);
}

} // namespace
} // namespace holdfast
