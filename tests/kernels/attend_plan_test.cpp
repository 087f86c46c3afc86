// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/attend_unit.h"
#include "tests/kernels/attend_setup.h"

namespace holdfast::cpu {
namespace {

struct Team {
  int threads = 1;
  int64_t head_bytes = 0;
};

/// Of rows that share nothing.
AttendPlan plan_of(
    const AttentionSpec& spec,
    const std::vector<RowSpan>& rows,
    const Team& team) {
  AttendJob job;
  job.rows = rows;
  return plan_attend(
      job,
      {.query_heads = spec.query_heads,
       .kv_heads = spec.kv_heads,
       .visibility = spec.visibility,
       .head_bytes = team.head_bytes,
       .threads = team.threads});
}

TEST(AttendPlan, GivesEachQueryRowToExactlyOneUnit) {
  std::mt19937 random(1);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int draw = 0; draw < 300; ++draw) {
    const int64_t kv_heads = 1 + below(3);
    const int64_t heads = 1 + below(9);
    std::vector<RowSpan> rows(1 + below(4));
    for (RowSpan& row : rows) {
      row = {0, 1 + below(300), below(2000)};
    }
    const AttendPlan plan = plan_of(
        spec_of(heads * kv_heads, kv_heads, {below(2) * 100, below(80)}),
        rows,
        {1 + static_cast<int>(below(4)), below(70000)});
    std::map<std::pair<int64_t, int64_t>, int64_t> next; // [row, head]
    for (const AttendUnit& unit : plan.units) {
      const AttendQueries& queries = plan.queries[unit.queries];
      ASSERT_EQ(unit.members, 1);
      ASSERT_EQ(queries.rows, unit.rows);
      int64_t& from = next[{queries.row, unit.kv_head}];
      ASSERT_EQ(queries.first, from);
      ASSERT_GE(unit.rows, 1);
      ASSERT_LE(unit.rows, kUnitRows);
      from += unit.rows;
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      for (int64_t head = 0; head < kv_heads; ++head) {
        ASSERT_EQ((next[{r, head}]), rows[r].count * heads);
      }
    }
  }
}

TEST(AttendPlan, GivesEachVisibleBlockOfAUnitToExactlyOneItem) {
  std::mt19937 random(2);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int draw = 0; draw < 300; ++draw) {
    const std::vector<RowSpan> rows{
        {0, 1 + below(40), below(9000)}, {0, 1, below(100)}};
    const AttendPlan plan = plan_of(
        spec_of(8, 4, {below(2) * (1 + below(900)), below(1500)}),
        rows,
        {4, below(70000)});
    std::map<int64_t, std::multiset<int64_t>> splits; // [unit]
    for (const AttendItem& item : plan.items) {
      for (int64_t u = item.unit; u < item.unit + item.units; ++u) {
        const AttendUnit& unit = plan.units[u];
        const int64_t first = item.first < 0 ? 0 : item.first;
        for (int64_t i = first; i < first + item.splits; ++i) {
          splits[u].insert(unit.splits.at(i));
        }
      }
    }
    for (size_t u = 0; u < plan.units.size(); ++u) {
      const VisibleBlocks& blocks = plan.units[u].blocks;
      std::set<int64_t> expected;
      for (int64_t b = 0; b < blocks.end; ++b) {
        if (blocks.has(b)) {
          expected.insert(b / kSplitBlocks);
        }
      }
      ASSERT_EQ(
          splits[u],
          (std::multiset<int64_t>(expected.begin(), expected.end())));
    }
  }
}

/// Floats that the parts of a round keep.
int64_t kept_in(const AttendPlan& plan, const AttendRound& round, int64_t dim) {
  int64_t floats = 0;
  for (int64_t i = round.begin; i < round.end; ++i) {
    const AttendItem& item = plan.items[i];
    floats += item.first < 0 ? 0
                             : item.units * item.splits *
            partial_floats(plan.units[item.unit].rows, dim);
  }
  return floats;
}

// A million positions under 8 heads of 256: 540 MB at a time, it was.
TEST(AttendPlan, KeepsABoundedNumberOfPartialsOfALongContext) {
  constexpr int64_t kDim = 256;
  constexpr int kThreads = 64;
  for (const int64_t rows : {1, 8}) {
    std::vector<RowSpan> spans;
    for (int64_t r = 0; r < rows; ++r) {
      spans.push_back({r, 1, (1 << 20) - 1});
    }
    AttendJob job;
    job.rows = spans;
    const AttendPlan plan = plan_attend(
        job,
        {.query_heads = 8,
         .kv_heads = 8,
         .head_bytes = 64 << 10,
         .threads = kThreads,
         .value_dim = kDim});
    EXPECT_TRUE(plan.folded);
    std::map<int64_t, int64_t> next; // [unit] splits in the rounds before
    for (const AttendRound& round : plan.rounds) {
      EXPECT_LE(kept_in(plan, round, kDim), kKeptFloats);
      std::map<int64_t, std::map<int64_t, int64_t>> parts; // [unit][first]
      for (int64_t i = round.begin; i < round.end; ++i) {
        const AttendItem& item = plan.items[i];
        parts[item.unit][item.first] = item.splits;
      }
      for (const auto& [unit, of] : parts) {
        for (const auto& [first, splits] : of) {
          EXPECT_EQ(first, next[unit]);
          next[unit] += splits;
        }
      }
      const bool last = &round == &plan.rounds.back();
      if (round.begin < round.end && !last) {
        EXPECT_GE(round.end - round.begin, 2 * kThreads);
      }
    }
    ASSERT_EQ(std::ssize(next), 8 * rows);
    for (const auto& [unit, splits] : next) {
      EXPECT_EQ(splits, (1 << 20) / 256);
    }
  }
}

TEST(AttendPlan, SharesOneDecodingRowAmongThreadsAndNotAmongOne) {
  const std::vector<RowSpan> row{{0, 1, 32767}};
  const AttentionSpec spec = spec_of(4, 1, {});
  EXPECT_EQ(plan_of(spec, row, {1, 0}).items.size(), 1u);
  const AttendPlan plan = plan_of(spec, row, {2, 0});
  EXPECT_EQ(plan.items.size(), 8u); // four a thread
  for (const AttendItem& item : plan.items) {
    EXPECT_EQ(item.splits, 512 / kSplitBlocks / 8);
  }
}

TEST(AttendPlan, ReadsNeighbouringHeadsTogetherWhereTheyAreSmall) {
  const std::vector<RowSpan> row{{0, 1, 32767}};
  const AttentionSpec spec = spec_of(8, 8, {});
  EXPECT_EQ(plan_of(spec, row, {1, 32 << 10}).items.size(), 4u);
  EXPECT_EQ(plan_of(spec, row, {1, 1 << 10}).items.size(), 1u);
  EXPECT_EQ(plan_of(spec, row, {1, 1 << 20}).items.size(), 8u);
}

TEST(AttendPlan, PutsTheDearestItemsFirst) {
  const std::vector<RowSpan> rows{{0, 500, 0}, {500, 1, 20000}, {501, 1, 3}};
  const AttendPlan plan = plan_of(spec_of(4, 2, {}), rows, {2, 0});
  for (size_t i = 1; i < plan.items.size(); ++i) {
    EXPECT_GE(plan.items[i - 1].cost, plan.items[i].cost);
  }
}

} // namespace
} // namespace holdfast::cpu
