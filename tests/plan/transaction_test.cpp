// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/plan/transaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "stamped.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using Keep = std::vector<GroupRule>;
using Appends = std::vector<RowAppend>;
using Counts = std::vector<int64_t>;

std::vector<GroupRule> mixed() {
  return {{}, {.window = 16}, {.window = 8, .sinks = 4}};
}

TEST(Step, PlansRaggedRowsInTheOrderGiven) {
  Stamped rows(mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  rows.feed(a, 63, 1000);
  const Transaction step = rows.chains.begin(Appends{{b, 3}, {a, 2}});
  const StepPlan& plan = *step.plan();
  EXPECT_EQ(plan.tokens, 5);
  EXPECT_THAT(plan.positions, ElementsAre(0, 1, 2, 63, 64));
  EXPECT_EQ(plan.rows[1].first_token, 3);
  EXPECT_EQ(plan.rows[1].start, 63);
  EXPECT_EQ(plan.rows[1].count, 2);
  ASSERT_EQ(plan.groups.size(), 3u);
  EXPECT_EQ(plan.groups[0][0].images.size(), 1u);
  EXPECT_EQ(plan.groups[0][1].images.size(), 2u);
  EXPECT_EQ(plan.generation, rows.chains.open_generation());
}

TEST(Step, ShowsNullForReleasedBlocks) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 300, 1000);
  const Transaction step = rows.chains.begin(Appends{{row, 1}});
  const auto& windowed = step.plan()->groups[1][0].images;
  ASSERT_EQ(windowed.size(), 5u);
  EXPECT_EQ(windowed[3], nullptr);
  EXPECT_NE(windowed[4], nullptr);
  const auto& with_sinks = step.plan()->groups[2][0].images;
  EXPECT_NE(with_sinks[0], nullptr);
  EXPECT_EQ(with_sinks[1], nullptr);
}

// Positions that were handed out are values.
TEST(Step, NeverChangesAPlanThatWasHandedOut) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  const RowId other = rows.chains.add();
  rows.feed(row, 5, 1000);
  Transaction step = rows.chains.begin(Appends{{row, 2}});
  const auto plan = step.plan();
  const auto positions = plan->positions;
  step.commit_all();
  rows.feed(row, 100, 1000);
  rows.chains.remove(other);
  EXPECT_EQ(plan->positions, positions);
  EXPECT_EQ(plan->rows[0].start, 5);
}

// A draft rejected behind the window leaves every group as a run that only
// saw what was accepted.
TEST(Step, AfterPartialAcceptanceEqualsARunOfTheAcceptedTokens) {
  for (const int64_t length : {20, 60, 62, 64, 127, 300}) {
    for (int64_t accepted = 0; accepted <= 4; ++accepted) {
      Stamped speculative(mixed());
      Stamped plain(mixed());
      const RowId row = speculative.chains.add();
      const RowId same = plain.chains.add();
      speculative.feed(row, length, 1000);
      plain.feed(same, length, 1000);
      Transaction step = speculative.chains.begin(Appends{{row, 4}});
      stamp_step(*step.plan(), 1000);
      step.commit(Counts{accepted});
      if (accepted > 0) {
        plain.feed(same, accepted, 1000);
      }
      ASSERT_EQ(speculative.content(row), plain.content(same));
      ASSERT_EQ(speculative.pool.live_bytes(), plain.pool.live_bytes());
      speculative.chains.check_invariants();
    }
  }
}

// What was cut is nowhere in what the row shows later.
TEST(Step, OverwritesRejectedPositionsWithTheNextOnes) {
  Stamped rows(Keep{{.window = 8}});
  const RowId row = rows.chains.add();
  rows.feed(row, 62, 1000);
  Transaction draft = rows.chains.begin(Appends{{row, 5}});
  stamp_step(*draft.plan(), 666000);
  draft.commit(Counts{2});
  rows.feed(row, 4, 2000);
  const auto content = rows.content(row)[0];
  ASSERT_EQ(content.size(), 68u);
  for (size_t p = 0; p < content.size(); ++p) {
    const uint64_t from = p < 62 ? 1000 : p < 64 ? 666000 : 2000;
    EXPECT_EQ(content[p], from + p);
  }
}

TEST(Step, AcceptsAnotherCountPerRow) {
  Stamped rows(mixed());
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  const RowId c = rows.chains.add();
  Transaction step = rows.chains.begin(Appends{{c, 70}, {a, 5}, {b, 130}});
  step.commit(Counts{70, 0, 65});
  EXPECT_EQ(rows.chains.chain(a).committed(), Position(0));
  EXPECT_EQ(rows.chains.chain(b).committed(), Position(65));
  EXPECT_EQ(rows.chains.chain(c).committed(), Position(70));
  EXPECT_EQ(rows.chains.retained_bytes(a), Bytes(0));
  EXPECT_EQ(rows.chains.blocks(b, 0).size(), 2u);
}

TEST(Step, LeavesNoTraceWhenRolledBackOrDropped) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 128, 1000);
  rows.chains.trim(row, Position(120)); // the step copies a sealed tail
  const Bytes live = rows.pool.live_bytes();
  const std::byte* tail = rows.chains.blocks(row, 0)[1].image();
  for (int way = 0; way < 4; ++way) {
    {
      Transaction step = rows.chains.begin(Appends{{row, 200}});
      stamp_step(*step.plan(), 5000);
      EXPECT_GT(rows.pool.live_bytes(), live);
      if (way == 0) {
        step.rollback();
      } else if (way == 1) {
        step.commit(Counts{0});
      } else if (way == 2) {
        const Transaction moved = std::move(step);
        EXPECT_FALSE(step.open()); // NOLINT: what a moved-from step says
      }
    }
    EXPECT_EQ(rows.pool.live_bytes(), live);
    EXPECT_EQ(rows.chains.blocks(row, 0)[1].image(), tail);
    EXPECT_EQ(rows.content(row)[0][119], 1119u);
    EXPECT_EQ(rows.chains.open_generation(), 0u);
    rows.chains.check_invariants();
  }
}

TEST(Step, LeavesCommittedStateAloneWhenAnExceptionEndsIt) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 100, 1000);
  const auto before = rows.content(row);
  try {
    Transaction step = rows.chains.begin(Appends{{row, 90}});
    stamp_step(*step.plan(), 5000);
    throw std::runtime_error("a layer failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(rows.content(row), before);
  rows.feed(row, 1, 1000);
  EXPECT_EQ(rows.content(row)[0][100], 1100u);
}

// Refused before anything is allocated, for all rows and groups at once.
TEST(Step, RefusedOverTheBudgetChangesNothing) {
  Stamped rows(mixed(), Bytes(14 * kStampedImage));
  const RowId a = rows.chains.add();
  const RowId b = rows.chains.add();
  rows.feed(a, 100, 1000);
  rows.feed(b, 10, 2000);
  const std::string before = rows.dump();
  // Two more blocks a group fit for one row, not for both.
  const Appends both{{a, 100}, {b, 100}};
  EXPECT_EQ(rows.chains.bytes_needed(both), Bytes(9 * kStampedImage));
  EXPECT_EQ(code_of([&] { rows.chains.begin(both); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(rows.dump(), before);
  rows.feed(b, 50, 2000);
  EXPECT_EQ(rows.content(b)[0][59], 2059u);
}

TEST(Step, RefusesNonsenseAndChangesNothing) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  const RowId gone = rows.chains.add();
  rows.chains.remove(gone);
  rows.feed(row, 10, 1000);
  const std::string before = rows.dump();
  const auto begin = [&](const Appends& appends) {
    return code_of([&] { rows.chains.begin(appends); });
  };
  EXPECT_EQ(begin({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(begin({{row, 0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(begin({{row, -5}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(begin({{row, 1}, {row, 1}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(begin({{row, int64_t{1} << 31}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(begin({{row, 1}, {gone, 1}}), ErrorCode::kNotFound);
  EXPECT_EQ(rows.dump(), before);
}

TEST(Step, StaysOpenWhenItsCommitIsRefused) {
  Stamped rows(mixed());
  const RowId row = rows.chains.add();
  Transaction step = rows.chains.begin(Appends{{row, 4}});
  for (const Counts& counts : {Counts{}, {5}, {-1}, {1, 1}}) {
    EXPECT_EQ(
        code_of([&] { step.commit(counts); }), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(step.open());
  }
  step.commit(Counts{4});
  EXPECT_EQ(rows.chains.chain(row).committed(), Position(4));
  EXPECT_EQ(code_of([&] { step.commit(Counts{4}); }), ErrorCode::kStale);
  EXPECT_EQ(rows.chains.chain(row).committed(), Position(4));
}

TEST(Step, ExcludesEveryOtherChangeWhileItIsOpen) {
  Stamped rows(mixed());
  Chains other(rows.pool, mixed());
  const RowId row = rows.chains.add();
  rows.feed(row, 10, 1000);
  const Transaction step = rows.chains.begin(Appends{{row, 4}});
  const std::vector<RowId> ids{row};
  const auto refused = [](const auto& call) {
    return code_of(call) == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([&] { rows.chains.begin(Appends{{row, 1}}); }));
  EXPECT_TRUE(refused([&] { rows.chains.add(); }));
  EXPECT_TRUE(refused([&] { rows.chains.fork(row); }));
  EXPECT_TRUE(refused([&] { rows.chains.trim(row, Position(1)); }));
  EXPECT_TRUE(refused([&] { rows.chains.remove(row); }));
  EXPECT_TRUE(refused([&] { rows.chains.reorder(ids); }));
  EXPECT_TRUE(refused([&] { rows.chains.adopt(other, {}); }));
  EXPECT_TRUE(refused([&] { other.adopt(rows.chains, ids); }));
}

TEST(Step, NeverRepeatsAGeneration) {
  Stamped rows(mixed());
  Stamped others(mixed());
  const RowId row = rows.chains.add();
  const RowId other = others.chains.add();
  uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const Transaction a = rows.chains.begin(Appends{{row, 1}});
    const Transaction b = others.chains.begin(Appends{{other, 1}});
    EXPECT_GT(a.plan()->generation, last);
    EXPECT_GT(b.plan()->generation, a.plan()->generation);
    last = b.plan()->generation;
  }
}

TEST(Step, EndsWithTheChainsItBelongsTo) {
  std::optional<Stamped> rows;
  rows.emplace(mixed());
  const RowId row = rows->chains.add();
  Transaction step = rows->chains.begin(Appends{{row, 4}});
  rows.reset();
  EXPECT_FALSE(step.open());
  EXPECT_EQ(code_of([&] { step.commit(Counts{4}); }), ErrorCode::kStale);
}

} // namespace
} // namespace holdfast
