// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows that keep blocks behind a window to go back to: their blocks and bytes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "holdfast/plan/group.h"
#include "retained.h"
#include "stamped.h"

namespace holdfast {
namespace {

using testing::ElementsAre;
using Appends = std::vector<RowAppend>;
using Keep = std::vector<GroupRule>;

/// A group that keeps all, and one as of recurrent layers.
Keep keeping(int64_t every) {
  return {{}, {.window = 2, .starts = {}, .keep_every = every}};
}

/// The blocks of the second group that are there.
std::vector<int64_t> kept(const Chains& chains, RowId row) {
  std::vector<int64_t> result;
  const auto blocks = chains.blocks(row, 1);
  for (int64_t b = 0; b < std::ssize(blocks); ++b) {
    if (blocks[static_cast<size_t>(b)]) {
      result.push_back(b);
    }
  }
  return result;
}

TEST(Keep, HoldsTheBlocksThatItsRuleNamesAndReleasesTheOthers) {
  Stamped rows(keeping(2));
  const RowId row = rows.chains.add();
  rows.feed(row, 200, 1000);
  rows.feed(row, 250, 1000);
  EXPECT_THAT(kept(rows.chains, row), ElementsAre(1, 3, 5, 7));
  EXPECT_EQ(rows.pool.live_blocks(), 8 + 4);
  EXPECT_EQ(rows.chains.retained_bytes(row), Bytes(12 * kStampedImage));
  rows.chains.check_invariants();
  const auto content = rows.content(row);
  EXPECT_EQ(content[1][63], 0u);
  EXPECT_EQ(content[1][64], 1064u);
  EXPECT_EQ(content[1][400], 0u);
}

TEST(Keep, GoesOnFromAKeptBlockAsThoughNothingHadFollowedIt) {
  for (const int64_t to : {65, 100, 128, 256, 193}) {
    Stamped rows(keeping(2));
    const RowId row = rows.chains.add();
    rows.feed(row, 500, 1000);
    const auto before = rows.content(row);
    const RowId fork = rows.chains.fork(row);
    const int64_t blocks = rows.pool.live_blocks();
    rows.chains.trim(fork, Position(to));
    rows.chains.check_invariants();
    EXPECT_EQ(rows.pool.live_blocks(), blocks - 2); // the fork's open tails
    rows.feed(fork, 230, 5000);
    rows.chains.check_invariants();
    EXPECT_EQ(rows.content(row), before);
    const auto after = rows.content(fork);
    for (int64_t p = 0; p < to + 230; ++p) {
      const uint64_t stamp = (p < to ? 1000 : 5000) + static_cast<uint64_t>(p);
      ASSERT_EQ(after[0][static_cast<size_t>(p)], stamp);
      const uint64_t held = after[1][static_cast<size_t>(p)];
      const bool there = p / 64 % 2 == 1 || p / 64 >= (to + 228) / 64;
      ASSERT_EQ(held, there ? stamp : 0) << to << " " << p;
    }
  }
}

// Nothing is kept for a draft that was rejected.
TEST(Keep, HoldsTheSameBehindRejectedDrafts) {
  Stamped rows(keeping(2));
  const RowId row = rows.chains.add();
  rows.feed(row, 120, 1000);
  {
    Transaction step = rows.chains.begin(Appends{{row, 300}});
    stamp_step(*step.plan(), 7000);
    step.commit(std::vector<int64_t>{5});
  }
  EXPECT_THAT(kept(rows.chains, row), ElementsAre(1)); // 0 went at 66
  rows.chains.begin(Appends{{row, 300}}).rollback();
  rows.chains.check_invariants();
  rows.feed(row, 70, 1000);
  EXPECT_THAT(kept(rows.chains, row), ElementsAre(1, 3));
}

TEST(Keep, TravelsWithForksCopiesMovesAndCaptures) {
  Stamped rows(keeping(2));
  Stamped elsewhere(keeping(2));
  Chains other(rows.pool, keeping(2));
  const RowId row = rows.chains.add();
  rows.feed(row, 300, 1000);
  const auto expect_kept = [&](Chains& chains, RowId id) {
    chains.check_invariants();
    EXPECT_THAT(kept(chains, id), ElementsAre(1, 3, 4));
    EXPECT_EQ(stamps_of(chains, id), rows.content(row));
    EXPECT_EQ(chains.chain(id).reusable_length(Position(190)), Position(128));
    chains.trim(id, Position(128));
    EXPECT_THAT(kept(chains, id), ElementsAre(1));
    chains.begin(Appends{{id, 1}}).commit_all();
    chains.check_invariants();
  };
  expect_kept(rows.chains, rows.chains.fork(row));
  const RowId fork = rows.chains.fork(row);
  expect_kept(other, other.copy(rows.chains, std::vector{row})[0]);
  expect_kept(other, other.adopt(rows.chains, std::vector{fork})[0]);
  const CapturedRow captured = rows.chains.capture(row);
  expect_kept(rows.chains, rows.chains.add(captured));
  expect_kept(elsewhere.chains, elsewhere.chains.add(captured));
}

// What was kept stays; from then on the new state's rule holds.
TEST(Keep, GoesOnUnderARuleThatKeepsMoreOrLess) {
  Stamped rows(keeping(2));
  const RowId row = rows.chains.add();
  rows.feed(row, 300, 1000);
  const CapturedRow captured = rows.chains.capture(row);
  const struct {
    int64_t every;
    std::vector<int64_t> kept;
  } cases[] = {
      {0, {1, 3, 9}}, {1, {1, 3, 4, 5, 6, 7, 8, 9}}, {3, {1, 3, 5, 8, 9}}};
  for (const auto& [every, want] : cases) {
    Stamped under(keeping(every));
    const RowId id = under.chains.add(captured);
    EXPECT_EQ(under.content(id), rows.content(row));
    under.feed(id, 340, 1000);
    under.chains.check_invariants();
    EXPECT_EQ(kept(under.chains, id), want);
    under.chains.trim(id, Position(256));
    EXPECT_THAT(kept(under.chains, id), ElementsAre(1, 3));
    under.feed(id, 60, 2000);
    under.chains.check_invariants();
  }
  for (const Keep& rules :
       {Keep{{}, {.window = 3}},
        Keep{{}, {.window = 2, .sinks = 1}},
        Keep{{}, {.window = 2}, {}}}) {
    Stamped under(rules);
    const std::string before = under.dump();
    EXPECT_EQ(
        code_of([&] { under.chains.add(captured); }),
        ErrorCode::kInvalidArgument);
    EXPECT_EQ(under.dump(), before);
  }
}

TEST(Keep, FitsIntoTheBudgetThatWasProjectedAndIntoNoLess) {
  for (const int64_t every : {1, 2, 5}) {
    for (const int64_t first : {1, 64, 130, 400}) {
      for (const int64_t more : {1, 64, 65, 500}) {
        for (const bool back : {false, true}) {
          Stamped rows(keeping(every));
          const RowId row = rows.chains.add();
          rows.feed(row, first, 1000);
          if (back) {
            rows.feed(row, 300, 1000);
            rows.chains.trim(
                row, rows.chains.chain(row).reusable_length(Position(first)));
          }
          const int64_t now = rows.chains.chain(row).committed().get();
          const Bytes projected = rows.chains.projected_bytes(row, more, 1);
          Bytes peak = rows.chains.retained_bytes(row);
          for (int64_t n = 0; n < more; ++n) {
            const Bytes live = rows.pool.live_bytes();
            peak = std::max(
                peak, live + rows.chains.bytes_needed(Appends{{row, 1}}));
            rows.feed(row, 1, 1000);
          }
          ASSERT_GE(projected, peak) << every << " " << now << " " << more;
          ASSERT_LE(projected, peak + Bytes(2 * kStampedImage))
              << every << " " << now << " " << more;
        }
      }
    }
  }
}

TEST(Keep, RefusesAStepWhenWhatIsKeptFillsTheBudget) {
  // Without what is kept the next step would need 7 + 2 images.
  Stamped rows(keeping(1), Bytes(12 * kStampedImage));
  const RowId row = rows.chains.add();
  rows.feed(row, 6 * kBlockTokens, 1000);
  const std::string before = rows.dump();
  EXPECT_EQ(
      code_of([&] {
        rows.chains.begin(Appends{{row, 1}});
      }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(rows.dump(), before);
  rows.chains.trim(row, Position(64));
  rows.feed(row, 64, 2000);
  EXPECT_EQ(rows.pool.live_blocks(), 4);
}

TEST(Keep, ConvertsWhatIsKeptWithTheRest) {
  BlockPool pool({Bytes(8192), Bytes(4096)});
  Chains chains(
      pool,
      {{.window = 2, .starts = {Position(300)}, .keep_every = 2}},
      [](const BlockConversion& conversion) {
        for (int64_t slot = 0; slot < conversion.slots; ++slot) {
          const uint64_t stamp = stamp_in(conversion.source, slot) + 50000;
          std::memcpy(conversion.target + slot * 8, &stamp, 8);
        }
      });
  const RowId row = chains.add();
  const auto feed = [&](int64_t count) {
    Transaction step = chains.begin(Appends{{row, count}});
    stamp_step(*step.plan(), 1000);
    step.commit_all();
  };
  feed(300);
  EXPECT_EQ(pool.live_bytes(), Bytes(3 * 8192)); // 1, 3 and 4
  feed(200);
  chains.check_invariants();
  EXPECT_EQ(pool.live_bytes(), Bytes(4 * 4096)); // 1, 3, 5 and 7
  const auto content = stamps_of(chains, row);
  EXPECT_EQ(content[0][100], 51100u);
  EXPECT_EQ(content[0][200], 51200u);
  EXPECT_EQ(content[0][330], 1330u);
  // A cold row of 256 positions would not be converted.
  EXPECT_EQ(chains.chain(row).reusable_length(Position(256)), Position(0));
  EXPECT_EQ(chains.chain(row).reusable_length(Position(400)), Position(384));
}

TEST(Keep, IsCountedWithWhatARowRetainsAndWithEachToken) {
  LayerState recurrent;
  recurrent.recurrent = RecurrentSpec{2, 4, 32, 32, 4};
  LayerState keeping = recurrent;
  keeping.keep_every = 4;
  const LayerGroups without(std::vector{recurrent, recurrent});
  const LayerGroups groups(std::vector{keeping, keeping});
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups.group(0).rule.keep_every, 4);
  EXPECT_EQ(groups.image_bytes(), without.image_bytes());
  const int64_t image = groups.image_bytes()[0].get();
  EXPECT_EQ(retained_bytes(without, Position(6400)), Bytes(1 * image));
  // 25 blocks of 100, of which the last is held anyway.
  EXPECT_EQ(retained_bytes(groups, Position(6400)), Bytes(25 * image));
  EXPECT_EQ(without.bytes_per_token(), Bytes(0));
  EXPECT_EQ(groups.bytes_per_token(), Bytes((image + 255) / 256));
  // Layers that keep otherwise are another group.
  EXPECT_EQ(LayerGroups(std::vector{keeping, recurrent}).size(), 2);
}

} // namespace
} // namespace holdfast
