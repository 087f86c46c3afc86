// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "phased.h"

namespace holdfast {
namespace {

using Appends = std::vector<RowAppend>;
using Ids = std::vector<RowId>;

constexpr int64_t kStart = 100;

TEST(Phase, ConvertsARowBeforeTheAppendThatFollowsItsStart) {
  Phased rows(kStart);
  const RowId row = rows.chains.add();
  rows.feed(row, kStart, 1000);
  EXPECT_EQ(rows.conversions, 0); // due, but nothing is appended
  EXPECT_EQ(rows.phase(row), 0);
  rows.feed(row, 1, 1000);
  EXPECT_EQ(rows.conversions, 2); // a full block and the tail
  EXPECT_EQ(rows.slots, kStart); // of which only what is committed
  EXPECT_EQ(rows.phase(row), 1);
  rows.expect_content(row, 1000);
  rows.feed(row, 200, 1000);
  EXPECT_EQ(rows.conversions, 2); // stored as they come
  rows.expect_content(row, 1000);
  rows.chains.check_invariants();
}

TEST(Phase, RefusesAnAppendAcrossTheStartOfOneRowWhateverOthersDo) {
  Phased rows(kStart);
  const RowId near = rows.chains.add();
  const RowId far = rows.chains.add();
  rows.feed(near, 98, 1000);
  rows.feed(far, 10, 2000);
  EXPECT_EQ(rows.chains.chain(near).max_append(), 2);
  EXPECT_EQ(rows.chains.chain(far).max_append(), 90);
  const std::string before = rows.dump();
  EXPECT_EQ(
      code_of([&] {
        rows.chains.begin(Appends{{far, 90}, {near, 3}});
      }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(rows.dump(), before);
  rows.chains.begin(Appends{{far, 90}, {near, 2}}).commit_all();
}

TEST(Phase, PlansRowsOfBothPhasesInOneStep) {
  Phased rows(kStart);
  const RowId dense = rows.chains.add();
  const RowId encoded = rows.chains.add();
  const RowId empty = rows.chains.add();
  rows.feed(dense, 20, 1000);
  rows.feed(encoded, kStart, 2000);
  Transaction step =
      rows.chains.begin(Appends{{dense, 3}, {encoded, 5}, {empty, 2}});
  const StepPlan& plan = *step.plan();
  EXPECT_EQ(plan.groups[0][0].phase, 0);
  EXPECT_EQ(plan.groups[0][1].phase, 1);
  ASSERT_EQ(plan.mixed[0].size(), 2u);
  EXPECT_EQ(plan.mixed[0][0].phase, 0);
  ASSERT_EQ(plan.mixed[0][0].rows.size(), 2u);
  EXPECT_EQ(plan.mixed[0][0].rows[1].first_token, 8);
  EXPECT_EQ(plan.mixed[0][1].rows[0].first_token, 3);
  EXPECT_EQ(plan.mixed[0][1].blocks[0].images, plan.groups[0][1].images);
  EXPECT_TRUE(plan.mixed[1].empty()); // a group without phases
}

TEST(Phase, NeverConvertsWhatIsTentative) {
  Phased rows(kStart);
  const RowId row = rows.chains.add();
  rows.feed(row, 95, 1000);
  for (const int64_t accepted : {0, 3, 1, 0}) {
    Transaction step =
        rows.chains.begin(Appends{{row, rows.chains.chain(row).max_append()}});
    stamp_step(*step.plan(), 1000);
    step.commit(std::vector{accepted});
    EXPECT_EQ(rows.phase(row), 0);
  }
  rows.feed(row, 1, 1000);
  rows.feed(row, 1, 1000);
  EXPECT_EQ(rows.phase(row), 1);
  rows.expect_content(row, 1000);
}

TEST(Phase, StaysConvertedWhenTheStepIsRolledBack) {
  Phased rows(kStart);
  const RowId row = rows.chains.add();
  rows.feed(row, kStart, 1000);
  { const Transaction step = rows.chains.begin(Appends{{row, 4}}); }
  EXPECT_EQ(rows.phase(row), 1);
  EXPECT_EQ(rows.chains.chain(row).committed(), Position(kStart));
  rows.expect_content(row, 1000);
  rows.feed(row, 4, 1000);
  rows.expect_content(row, 1000);
}

TEST(Phase, EncodesASharedBlockOnceForAllForks) {
  Phased rows(256);
  const RowId row = rows.chains.add();
  rows.feed(row, 256, 1000);
  const RowId fork = rows.chains.fork(row);
  const RowId other = rows.chains.fork(row);
  rows.feed(row, 1, 1000);
  EXPECT_EQ(rows.conversions, 4);
  rows.feed(fork, 1, 5000);
  EXPECT_EQ(rows.conversions, 4);
  EXPECT_TRUE(rows.chains.blocks(row, 0)[2] == rows.chains.blocks(fork, 0)[2]);
  // Without the row that made them they are still there for the next.
  rows.chains.remove(row);
  rows.feed(other, 1, 7000);
  EXPECT_EQ(rows.conversions, 4);
  EXPECT_EQ(rows.content(other)[0][256], 7256u);
  EXPECT_EQ(rows.content(fork)[0][256], 5256u);
  rows.chains.check_invariants();
}

TEST(Phase, EncodesTheRowsOfOneStepOnceWhereTheyShare) {
  Phased rows(256);
  const RowId row = rows.chains.add();
  rows.feed(row, 256, 1000);
  const RowId fork = rows.chains.fork(row);
  const Bytes needed = rows.chains.bytes_needed(Appends{{row, 1}, {fork, 1}});
  const Bytes before = rows.pool.live_bytes();
  rows.chains.begin(Appends{{row, 1}, {fork, 1}}).commit_all();
  EXPECT_EQ(rows.conversions, 4);
  EXPECT_LE(rows.pool.peak_bytes() - before, needed);
}

TEST(Phase, ForgetsASuccessorThatIsGone) {
  Phased rows(128);
  const RowId row = rows.chains.add();
  rows.feed(row, 128, 1000);
  const RowId fork = rows.chains.fork(row);
  rows.feed(row, 1, 1000);
  rows.chains.remove(row);
  rows.feed(fork, 1, 1000);
  EXPECT_EQ(rows.conversions, 4);
  rows.expect_content(fork, 1000);
}

TEST(Phase, ConvertsTheKeptPartOfASealedTail) {
  Phased rows(70);
  const RowId row = rows.chains.add();
  rows.feed(row, 70, 1000);
  const RowId dense = rows.chains.fork(row);
  // A dense row that is due again after a trim to within a shared block.
  rows.chains.trim(dense, Position(64));
  rows.feed(dense, 6, 3000);
  rows.feed(dense, 1, 3000);
  EXPECT_EQ(rows.content(dense)[0][63], 1063u);
  EXPECT_EQ(rows.content(dense)[0][64], 3064u);
  EXPECT_EQ(rows.content(dense)[0][70], 3070u);
  rows.feed(row, 1, 1000);
  rows.expect_content(row, 1000);
}

TEST(Phase, CarriesItsFloorIntoForksMovesAndCaptures) {
  Phased rows(kStart);
  Chains other(rows.pool, rows.rules(), rows.converter());
  const RowId row = rows.chains.add();
  rows.feed(row, kStart, 1000);
  rows.feed(row, 3, 1000); // the window still has it all
  const RowId fork = rows.chains.fork(row);
  const RowId captured = rows.chains.add(rows.chains.capture(row));
  const RowId copied = other.copy(rows.chains, Ids{row}).front();
  for (const RowId each : {row, fork, captured}) {
    EXPECT_EQ(rows.chains.chain(each).reusable_floor(), Position(kStart));
    EXPECT_EQ(
        code_of([&] { rows.chains.trim(each, Position(kStart - 1)); }),
        ErrorCode::kUnsupported);
    rows.chains.trim(each, Position(kStart));
  }
  EXPECT_EQ(other.chain(copied).reusable_floor(), Position(kStart));
  const RowId moved = other.adopt(rows.chains, Ids{fork}).front();
  EXPECT_EQ(other.chain(moved).reusable_floor(), Position(kStart));
}

TEST(Phase, FinishesAConversionThatWasBrokenOff) {
  Phased rows(256);
  const RowId row = rows.chains.add();
  rows.feed(row, 256, 1000);
  rows.fail_after = 2;
  EXPECT_THROW(rows.chains.begin(Appends{{row, 1}}), std::runtime_error);
  rows.chains.check_invariants();
  EXPECT_EQ(rows.phase(row), 0);
  EXPECT_EQ(rows.chains.open_generation(), 0u);
  const RowId fork = rows.chains.fork(row);
  rows.fail_after = -1;
  rows.feed(row, 1, 1000);
  rows.expect_content(row, 1000);
  rows.feed(fork, 1, 1000);
  rows.expect_content(fork, 1000);
}

// Blocks that are encoded already never go back, whoever has the row by then.
TEST(Phase, KeepsItsFloorWhereAConversionWasBrokenOff) {
  Phased rows(200);
  Chains other(rows.pool, rows.rules(), rows.converter());
  const RowId row = rows.chains.add();
  rows.feed(row, 200, 1000);
  rows.fail_after = 2;
  EXPECT_THROW(rows.chains.begin(Appends{{row, 1}}), std::runtime_error);
  rows.fail_after = -1;
  const RowId fork = rows.chains.fork(row);
  const RowId added = rows.chains.add(rows.chains.capture(row));
  const RowId copied = other.copy(rows.chains, Ids{row}).front();
  const RowId moved = other.adopt(rows.chains, Ids{fork}).front();
  const auto check = [&](Chains& chains, RowId id) {
    EXPECT_EQ(chains.chain(id).phase(0), 0);
    EXPECT_EQ(chains.chain(id).reusable_floor(), Position(200));
    EXPECT_EQ(
        code_of([&] { chains.trim(id, Position(199)); }),
        ErrorCode::kUnsupported);
    chains.trim(id, Position(200));
    Transaction step = chains.begin(Appends{{id, 5}});
    stamp_step(*step.plan(), 1000);
    step.commit_all();
    const auto all = stamps_of(chains, id);
    for (size_t p = 0; p < all[0].size(); ++p) {
      ASSERT_EQ(all[0][p], 1000 + p);
    }
    chains.check_invariants();
  };
  check(rows.chains, row);
  check(rows.chains, added);
  check(other, copied);
  check(other, moved);
  rows.chains.trim(row, Position(0)); // still possible
  rows.feed(row, 3, 2000);
  EXPECT_EQ(rows.phase(row), 0);
  rows.expect_content(row, 2000);
}

// The tail of the last group is encoded, and shared once it was captured or
// trimmed into: the step writes to a copy.
TEST(Phase, CopiesATailThatABrokenOffConversionEncoded) {
  bool fail = true;
  BlockPool pool({Bytes(16384), Bytes(4096), Bytes(16384), Bytes(4096)});
  const std::vector<GroupRule> rules{
      {.starts = {Position(70)}}, {.starts = {Position(70)}}};
  Chains chains(pool, rules, [&](const BlockConversion& conversion) {
    if (fail && conversion.group == 1) {
      throw std::runtime_error("the codec failed");
    }
    std::memcpy(
        conversion.target,
        conversion.source,
        static_cast<size_t>(8 * conversion.slots));
  });
  const RowId row = chains.add();
  const auto feed = [&](RowId id, int64_t count, uint64_t stamp) {
    Transaction step = chains.begin(Appends{{id, count}});
    stamp_step(*step.plan(), stamp);
    step.commit_all();
  };
  feed(row, 70, 1000);
  EXPECT_THROW(chains.begin(Appends{{row, 1}}), std::runtime_error);
  fail = false;
  const CapturedRow captured = chains.capture(row);
  const RowId first = chains.add(captured);
  feed(first, 10, 3000);
  const RowId second = chains.add(captured);
  feed(second, 1, 5000);
  EXPECT_EQ(stamps_of(chains, first)[0][70], 3070u);
  EXPECT_EQ(stamps_of(chains, second)[0][69], 1069u);
  EXPECT_EQ(stamps_of(chains, second)[0][70], 5070u);
  chains.check_invariants();
}

// Where a span covers both starts, a row goes from the first phase to the last:
// through the one between, as others do that reach the starts one by one.
TEST(Phase, StoresABlockAlikeWhetherOrNotASpanCoversTwoStarts) {
  const std::vector<GroupRule> rules{{.starts = {Position(70), Position(140)}}};
  BlockPool pool({Bytes(4096), Bytes(4096), Bytes(4096)});
  std::vector<std::pair<int64_t, int64_t>> ways;
  Chains chains(pool, rules, [&](const BlockConversion& conversion) {
    ways.emplace_back(conversion.from, conversion.to);
    for (int64_t slot = 0; slot < conversion.slots; ++slot) {
      // What a way adds says between which phases it led.
      const uint64_t stamp = stamp_in(conversion.source, slot) +
          (conversion.to == 1 ? 1000000u : 3000000u * conversion.from);
      std::memcpy(conversion.target + slot * 8, &stamp, 8);
    }
  });
  const auto feed = [&](RowId row, const RowAppend& append) {
    Transaction step = chains.begin(Appends{append});
    const bool dense = chains.chain(row).phase(0) == 0;
    stamp_step(*step.plan(), dense ? 0 : 1000000u);
    step.commit_all();
  };
  const RowId plain = chains.add();
  for (const int64_t count : {64, 6, 70}) {
    feed(plain, {plain, count});
  }
  chains.begin(Appends{{plain, 1}}).commit_all();
  const RowId spanned = chains.add();
  feed(spanned, {spanned, 64});
  const std::vector<BidirectionalSpan> over{{Position(64), Position(145)}};
  feed(spanned, {spanned, 81, over});
  EXPECT_EQ(chains.chain(spanned).phase(0), 0);
  ways.clear();
  // A fork of it shares the way that its full blocks have gone.
  const RowId fork = chains.fork(spanned);
  const Bytes before = pool.live_bytes();
  const Bytes needed = chains.bytes_needed(Appends{{spanned, 1}});
  chains.begin(Appends{{spanned, 1}}).commit_all();
  EXPECT_LE(pool.live_bytes() - before, needed);
  EXPECT_EQ(chains.chain(spanned).phase(0), 2);
  const std::vector<std::pair<int64_t, int64_t>> in_turn{
      {0, 1}, {1, 2}, {0, 1}, {1, 2}, {0, 1}, {1, 2}};
  EXPECT_EQ(ways, in_turn);
  ways.clear();
  chains.begin(Appends{{fork, 1}}).commit_all();
  EXPECT_EQ(ways.size(), 2u); // its tail alone
  for (const RowId row : {spanned, fork}) {
    EXPECT_TRUE(std::ranges::equal(
        std::span(stamps_of(chains, row)[0]).first(140),
        std::span(stamps_of(chains, plain)[0]).first(140)));
  }
  chains.check_invariants();
}

TEST(Phase, NeedsAConverterWhereARuleHasPhases) {
  BlockPool pool({Bytes(4096), Bytes(4096)});
  const std::vector<GroupRule> rules{{.starts = {Position(8)}}};
  EXPECT_EQ(code_of([&] { Chains(pool, rules); }), ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast
