// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "phased.h"

namespace holdfast {
namespace {

using Appends = std::vector<RowAppend>;

constexpr int64_t kDense = Phased::kDense;
constexpr int64_t kEncoded = Phased::kEncoded;
// 256 positions: four blocks of two groups, one behind the window of the third.
constexpr int64_t kStart = 256;
constexpr Bytes kHeld{9 * kDense};

TEST(PhaseBudget, ConvertsBlockByBlockInTheRoomOfOneImage) {
  Phased rows(kStart, kHeld + Bytes(3 * kDense + kEncoded));
  const RowId row = rows.chains.add();
  rows.feed(row, kStart, 1000);
  ASSERT_EQ(rows.pool.live_bytes(), kHeld);
  std::vector<BlockRef> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(rows.pool.allocate(0));
  }
  EXPECT_EQ(rows.chains.bytes_needed(Appends{{row, 1}}), Bytes(kEncoded));
  rows.feed(row, 1, 1000);
  rows.expect_content(row, 1000);
  EXPECT_EQ(rows.pool.live_bytes(), Bytes(8 * kDense + 7 * kEncoded));
}

TEST(PhaseBudget, LeavesARowDenseAndUsableAndItsNeighboursUntouched) {
  const Bytes budget = kHeld + Bytes(3 * kDense + 2 * kEncoded);
  Phased rows(kStart, budget);
  const RowId row = rows.chains.add();
  const RowId neighbour = rows.chains.add();
  rows.feed(row, kStart, 1000);
  const RowId fork = rows.chains.fork(row);
  rows.feed(neighbour, 10, 2000);
  // What the fork shares cannot be freed: four images, one, and the places.
  const Appends both{{neighbour, 1}, {row, 1}};
  EXPECT_EQ(
      rows.chains.bytes_needed(both),
      Bytes(5 * kEncoded + 2 * kEncoded + kDense));
  const std::string before = rows.dump();
  EXPECT_EQ(code_of([&] { rows.chains.begin(both); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(rows.dump(), before);
  EXPECT_EQ(rows.conversions, 0);
  rows.feed(neighbour, 1, 2000);
  EXPECT_EQ(rows.phase(row), 0);
  rows.expect_content(row, 1000);
  const RowId again = rows.chains.fork(row); // whole blocks: no byte
  rows.chains.remove(again);
  // Without the fork one image is enough.
  rows.chains.remove(fork);
  rows.feed(row, 1, 1000);
  EXPECT_EQ(rows.phase(row), 1);
  rows.expect_content(row, 1000);
  rows.expect_content(neighbour, 2000);
}

TEST(PhaseBudget, CountsForEachStepWhatItsConversionsAndPlacesTake) {
  std::mt19937 random(7);
  Phased rows(130);
  std::vector<RowId> ids;
  for (int round = 0; round < 400; ++round) {
    if (ids.size() < 4 || random() % 12 == 0) {
      const bool fork = !ids.empty() && random() % 2 == 0;
      ids.push_back(
          fork ? rows.chains.fork(ids[random() % ids.size()])
               : rows.chains.add());
    }
    if (ids.size() > 6) {
      rows.chains.remove(ids[random() % ids.size()]);
      ids.assign(rows.chains.order().begin(), rows.chains.order().end());
    }
    Appends appends;
    bool shared = false;
    for (const RowId id : ids) {
      if (random() % 2 == 0) {
        const int64_t most = rows.chains.chain(id).max_append();
        appends.push_back({id, std::min<int64_t>(most, 1 + random() % 40)});
        for (const BlockRef& block : rows.chains.blocks(id, 0)) {
          shared = shared || block.shared();
        }
      }
    }
    if (appends.empty()) {
      continue;
    }
    const Bytes needed = rows.chains.bytes_needed(appends);
    const Bytes before = rows.pool.live_bytes();
    // A pool of exactly that much room would do.
    Transaction step = rows.chains.begin(appends);
    ASSERT_LE(rows.pool.live_bytes() - before, needed);
    stamp_step(*step.plan(), 1000);
    step.commit_all();
    rows.chains.check_invariants();
    for (const RowId id : ids) {
      rows.expect_content(id, 1000);
    }
  }
  EXPECT_GT(rows.conversions, 20);
}

// A row of the second phase drops the only successor of a block that a row of
// the first still has: it stays for that row, in either order.
TEST(PhaseBudget, FitsThreePhasesInOneStepIntoExactlyWhatItNeeds) {
  for (const bool later_first : {true, false}) {
    const auto fill = [&](BlockPool& pool, Chains& chains) {
      const RowId early = chains.add();
      chains.begin(Appends{{early, 64}}).commit_all();
      const RowId later = chains.fork(early);
      chains.begin(Appends{{later, 64}}).commit_all();
      EXPECT_EQ(chains.chain(later).phase(0), 1);
      EXPECT_EQ(pool.live_blocks(), 3);
      return later_first ? Appends{{later, 1}, {early, 1}}
                         : Appends{{early, 1}, {later, 1}};
    };
    // The second phase is the largest: what is not counted would not fit.
    const std::vector<Bytes> kinds{Bytes(4096), Bytes(16384), Bytes(4096)};
    const std::vector<GroupRule> rules{
        {.starts = {Position(64), Position(128)}}};
    const BlockConverter convert = [](const BlockConversion&) {};
    BlockPool wide(kinds);
    Chains chains(wide, rules, convert);
    const Appends appends = fill(wide, chains);
    const Bytes room = wide.live_bytes() + chains.bytes_needed(appends);
    BlockPool narrow(kinds, room);
    Chains exact(narrow, rules, convert);
    const Appends same = fill(narrow, exact);
    ASSERT_NO_THROW(exact.begin(same).commit_all()) << later_first;
    exact.check_invariants();
    EXPECT_LE(narrow.peak_bytes(), room);
  }
}

// A span over both starts takes one fork from the dense images to the last
// phase, while another has reached the first start: the block that they share
// is converted to both kinds, and counted for each.
TEST(PhaseBudget, FitsForksOfADenseRowThatAreDueForTwoPhases) {
  const std::vector<Bytes> kinds{Bytes(4096), Bytes(16384), Bytes(8192)};
  const std::vector<GroupRule> rules{{.starts = {Position(70), Position(128)}}};
  const BlockConverter convert = [](const BlockConversion&) {};
  for (const bool later_first : {true, false}) {
    const auto fill = [&](Chains& chains) {
      const RowId trunk = chains.add();
      chains.begin(Appends{{trunk, 64}}).commit_all();
      const RowId early = chains.fork(trunk);
      chains.begin(Appends{{early, 6}}).commit_all();
      const RowId later = chains.fork(trunk);
      const std::vector<BidirectionalSpan> over{{Position(64), Position(130)}};
      chains.begin(Appends{{later, 66, over}}).commit_all();
      EXPECT_EQ(chains.chain(early).due_phase(0), 1);
      EXPECT_EQ(chains.chain(later).due_phase(0), 2);
      EXPECT_EQ(chains.chain(later).phase(0), 0);
      return later_first ? Appends{{later, 1}, {early, 1}}
                         : Appends{{early, 1}, {later, 1}};
    };
    BlockPool wide(kinds);
    Chains chains(wide, rules, convert);
    const Appends appends = fill(chains);
    const Bytes room = wide.live_bytes() + chains.bytes_needed(appends);
    BlockPool narrow(kinds, room);
    Chains exact(narrow, rules, convert);
    const Appends same = fill(exact);
    ASSERT_NO_THROW(exact.begin(same).commit_all()) << later_first;
    exact.check_invariants();
    EXPECT_LE(narrow.peak_bytes(), room);
    // Less is refused before anything is converted.
    BlockPool less(kinds, room - Bytes(4096));
    Chains refusing(less, rules, convert);
    const Appends again = fill(refusing);
    const std::string before = dump_of(refusing, less);
    EXPECT_EQ(code_of([&] { refusing.begin(again); }), ErrorCode::kOutOfBudget);
    EXPECT_EQ(dump_of(refusing, less), before);
  }
}

/// The most that the row's images took while it grew.
int64_t peak_while_growing(Phased& rows, RowId row, int64_t tokens, int64_t u) {
  int64_t peak = rows.chains.retained_bytes(row).get();
  while (tokens > 0) {
    const int64_t count =
        std::min({u, tokens, rows.chains.chain(row).max_append()});
    const Bytes live = rows.pool.live_bytes();
    const Bytes needed = rows.chains.bytes_needed(Appends{{row, count}});
    peak = std::max(peak, (live + needed).get());
    rows.feed(row, count, 1000);
    tokens -= count;
  }
  return peak;
}

TEST(PhaseBudget, ProjectsNoLessThanARowTakesAndLittleMore) {
  for (const int64_t start : {1, 63, 64, 100, 300}) {
    for (const int64_t first : {1, 50, 64, 99, 100, 170}) {
      for (const int64_t more : {0, 1, 5, 30, 64, 200, 700}) {
        for (const int64_t u : {1, 8, 100}) {
          Phased rows(start);
          const RowId row = rows.chains.add();
          peak_while_growing(rows, row, first, 1);
          const int64_t projected =
              rows.chains.projected_bytes(row, more, u).get();
          const int64_t peak = peak_while_growing(rows, row, more, u);
          ASSERT_GE(projected, peak) << start << " " << first << " " << more;
          // A chunk's places need not come together in all groups.
          ASSERT_LE(projected, peak + 3 * kDense)
              << start << " " << first << " " << more << " " << u;
        }
      }
    }
  }
}

// The old tail lives beside its copy until the step has ended.
TEST(PhaseBudget, ProjectsTheCopyOfASealedTail) {
  for (const int64_t start : {50, 1000}) {
    for (const int64_t first : {60, 110, 130}) {
      for (const bool trimmed : {false, true}) {
        for (const int64_t more : {1, 5, 64, 200}) {
          Phased rows(start);
          RowId row = rows.chains.add();
          peak_while_growing(rows, row, first, 1);
          if (trimmed) {
            peak_while_growing(rows, row, 10, 1);
            rows.chains.trim(row, Position(first));
          } else {
            const CapturedRow captured = rows.chains.capture(row);
            rows.chains.remove(row);
            row = rows.chains.add(captured);
          }
          const int64_t projected =
              rows.chains.projected_bytes(row, more, 8).get();
          const int64_t peak = peak_while_growing(rows, row, more, 8);
          ASSERT_GE(projected, peak) << start << " " << first << " " << more;
          ASSERT_LE(projected, peak + 3 * kDense)
              << start << " " << first << " " << more;
        }
      }
    }
  }
}

TEST(PhaseBudget, ProjectsForAnyNumberOfTokens) {
  Phased rows(100);
  const RowId row = rows.chains.add();
  rows.feed(row, 10, 1000);
  const int64_t any = std::numeric_limits<int64_t>::max();
  const int64_t most = kMaxPositions.get();
  EXPECT_EQ(
      rows.chains.projected_bytes(row, any, any),
      rows.chains.projected_bytes(row, most - 10, most));
}

TEST(PhaseBudget, ProjectsNoMoreForAWindowThatIsFull) {
  BlockPool pool({Bytes(kDense)});
  Chains chains(pool, {{.window = 100}});
  const RowId row = chains.add();
  const Bytes full = chains.projected_bytes(row, 400, 8);
  EXPECT_EQ(chains.projected_bytes(row, 100000, 8), full);
  // 100 positions and 8 tentative ones touch at most three blocks.
  EXPECT_EQ(full, Bytes(3 * kDense));
}

} // namespace
} // namespace holdfast
