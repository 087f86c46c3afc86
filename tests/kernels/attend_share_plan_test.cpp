// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Splits that rows share are read once for all of them, and each row's visible
// splits exactly once in order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "holdfast/kernels/cpu/attend_plan.h"
#include "tests/kernels/attend_setup.h"
#include "tests/plan/stamped.h"

namespace holdfast::cpu {
namespace {

using testing::ElementsAre;

constexpr int64_t kSplit = kSplitBlocks * kBlockTokens;

/// Rows of images that are never touched.
class Rows {
 public:
  explicit Rows(const AttentionSpec& spec) : spec_(spec) {}

  /// A row that shares up to the first `shared` blocks of another.
  void add(const RowSpan& span, int64_t of = -1, int64_t shared = 0) {
    RowBlocks row;
    shared = of < 0 ? 0 : std::min(shared, std::ssize(blocks_[of].images));
    for (int64_t b = 0; b * kBlockTokens < span.start + span.count; ++b) {
      row.images.push_back(b < shared ? blocks_[of].images[b] : fresh());
    }
    spans_.push_back(span);
    blocks_.push_back(std::move(row));
  }
  /// Forgets the blocks that a window has left behind.
  void release() {
    for (size_t r = 0; r < spans_.size(); ++r) {
      const VisibleBlocks sees = visible_blocks(
          spec_.visibility,
          spans_[r],
          spans_[r].start,
          spans_[r].start + spans_[r].count - 1);
      for (size_t b = 0; b < blocks_[r].images.size(); ++b) {
        if (!sees.has(static_cast<int64_t>(b))) {
          blocks_[r].images[b] = nullptr;
        }
      }
    }
  }
  AttendPlan plan(int threads = 1) const {
    AttendJob job;
    job.rows = spans_;
    job.blocks = blocks_;
    return plan_attend(
        job,
        {.query_heads = spec_.query_heads,
         .kv_heads = spec_.kv_heads,
         .visibility = spec_.visibility,
         .head_bytes = 1 << 20,
         .threads = threads});
  }
  const std::vector<RowSpan>& spans() const {
    return spans_;
  }
  const std::vector<RowBlocks>& blocks() const {
    return blocks_;
  }
  const AttentionSpec& spec() const {
    return spec_;
  }

 private:
  std::byte* fresh() {
    return memory_ + (next_ += 64);
  }

  AttentionSpec spec_;
  std::vector<RowSpan> spans_;
  std::vector<RowBlocks> blocks_;
  std::byte* memory_ = reinterpret_cast<std::byte*>(int64_t{1} << 40);
  int64_t next_ = 0;
};

/// How often the items read each split of a unit's first head, by image of its
/// first block.
std::map<const std::byte*, int>
reads_of(const AttendPlan& plan, const std::vector<RowBlocks>& blocks) {
  std::map<const std::byte*, int> reads;
  for (const AttendItem& item : plan.items) {
    const AttendUnit& unit = plan.units[item.unit];
    const auto& images = blocks[plan.queries[unit.queries].row].images;
    const int64_t first = item.first < 0 ? 0 : item.first;
    for (int64_t i = first; i < first + item.splits; ++i) {
      reads[images[unit.splits.at(i) * kSplitBlocks]] += 1;
    }
  }
  return reads;
}

TEST(AttendSharePlan, ReadsAPrefixOfEightRowsOnce) {
  for (const int threads : {1, 2}) {
    Rows rows(spec_of(4, 1, {}));
    for (int64_t r = 0; r < 8; ++r) {
      rows.add({r, 1, 4096 + 10 * r}, r - 1, 64);
    }
    const AttendPlan plan = rows.plan(threads);
    ASSERT_EQ(plan.shared_units, 1);
    EXPECT_EQ(plan.units[0].members, 8);
    EXPECT_EQ(plan.units[0].rows, 32);
    EXPECT_EQ(plan.rounds[0].cost, 64); // blocks, for one group of queries
    const auto reads = reads_of(plan, rows.blocks());
    EXPECT_EQ(reads.size(), 16u + 8u); // the prefix, and each row's own split
    for (const auto& [image, count] : reads) {
      EXPECT_EQ(count, 1);
    }
  }
}

TEST(AttendSharePlan, ReadsThePrefixOfAForkOfAForkOnce) {
  Rows rows(spec_of(8, 2, {}));
  rows.add({0, 1, 5 * kSplit});
  rows.add({1, 1, 9 * kSplit}, 0, 5 * kSplitBlocks);
  rows.add({2, 1, 3 * kSplit}); // a stranger between them
  rows.add({3, 1, 9 * kSplit + 7}, 1, 9 * kSplitBlocks);
  rows.add({4, 1, 5 * kSplit + 7}, 0, 5 * kSplitBlocks);
  const AttendPlan plan = rows.plan();
  ASSERT_EQ(plan.shared_units, 4); // two runs of two heads
  EXPECT_EQ(plan.units[0].members, 4);
  EXPECT_EQ(plan.units[0].splits.end, 5);
  EXPECT_EQ(plan.units[2].members, 2);
  EXPECT_EQ(plan.units[2].splits.begin, 5);
  EXPECT_EQ(plan.units[2].splits.end, 9);
  EXPECT_EQ(plan.units[3].parent, 1);
  for (const auto& [image, count] : reads_of(plan, rows.blocks())) {
    EXPECT_EQ(count, 2); // once a head
  }
}

TEST(AttendSharePlan, SharesWholeSplitsBelowEveryTokenOfTheStep) {
  Rows rows(spec_of(4, 1, {}));
  rows.add({0, 1, 4 * kSplit + 255});
  rows.add({1, 1, 4 * kSplit - 1}, 0, 16); // writes into the fourth
  rows.add({2, 1, 4 * kSplit + 255}, 0, 14); // another block in the fourth
  const AttendPlan plan = rows.plan();
  ASSERT_EQ(plan.shared_units, 1);
  EXPECT_EQ(plan.units[0].members, 3);
  EXPECT_EQ(plan.units[0].splits.end, 3);
}

TEST(AttendSharePlan, LeavesRowsOfManyQueriesAndShortRunsAlone) {
  Rows rows(spec_of(4, 1, {}));
  rows.add({0, 17, 4 * kSplit});
  rows.add({17, 17, 4 * kSplit}, 0, 16);
  EXPECT_EQ(rows.plan().shared_units, 0);
  Rows brief(spec_of(4, 1, {}));
  brief.add({0, 1, kSplit});
  brief.add({1, 1, kSplit}, 0, 4);
  EXPECT_EQ(brief.plan().shared_units, 0);
  brief.add({2, 1, kSplit}, 0, 4);
  EXPECT_EQ(brief.plan().shared_units, 1);
}

TEST(AttendSharePlan, FindsWhatForkedRowsShareInAStepsPlan) {
  Stamped rows({{}, {.window = 512}});
  const RowId trunk = rows.chains.add();
  rows.feed(trunk, 4 * kSplit + 5, 1);
  std::vector<RowAppend> appends{{trunk, 1}};
  for (int i = 0; i < 3; ++i) {
    appends.push_back({rows.chains.fork(trunk), 1});
  }
  const RowId stranger = rows.chains.add();
  rows.feed(stranger, 4 * kSplit + 5, 1);
  appends.push_back({stranger, 1});
  Transaction step = rows.chains.begin(appends);
  const StepPlan& plan = *step.plan();
  const auto splits_of = [&](size_t group, Visibility sees) {
    const SharedRuns found = find_shared(
        {.query_heads = 4, .visibility = sees}, plan.rows, plan.groups[group]);
    std::vector<int64_t> splits;
    for (const SharedRun& run : found.runs) {
      EXPECT_EQ(run.rows, 4);
      splits.push_back(run.splits.count());
    }
    return splits;
  };
  EXPECT_THAT(splits_of(0, {}), ElementsAre(4));
  EXPECT_THAT(splits_of(1, {.window = 512, .sinks = 0}), ElementsAre(2));
}

/// The splits that a unit and those before it read, in order.
std::vector<int64_t> splits_to(const AttendPlan& plan, int64_t u) {
  const AttendUnit& unit = plan.units[u];
  std::vector<int64_t> splits;
  if (unit.parent >= 0) {
    splits = splits_to(plan, unit.parent);
  }
  for (int64_t i = 0; i < unit.splits.count(); ++i) {
    splits.push_back(unit.splits.at(i));
  }
  return splits;
}

/// Checks that the rows of unit u stand where their parent unit has them.
void expect_in_parent(const AttendPlan& plan, int64_t u) {
  const AttendUnit& unit = plan.units[u];
  const AttendQueries& first = plan.queries[unit.queries];
  const AttendUnit& parent = plan.units[unit.parent];
  ASSERT_EQ(parent.kv_head, unit.kv_head);
  int64_t row = 0;
  for (int64_t m = 0; m < parent.members; ++m) {
    const AttendQueries& member = plan.queries[parent.queries + m];
    if (member.row == first.row) {
      ASSERT_EQ(unit.parent_row, row + first.first - member.first);
      return;
    }
    row += member.rows;
  }
  FAIL() << "a unit's row is none of its parent's";
}

/// Every visible split of the unit's queries once, in order; others that are
/// read show them nothing.
void expect_all_splits(const Rows& rows, const AttendPlan& plan, int64_t u) {
  const AttendQueries& queries = plan.queries[plan.units[u].queries];
  const RowSpan& span = rows.spans()[queries.row];
  const AttentionSpec& spec = rows.spec();
  const int64_t heads = spec.query_heads / spec.kv_heads;
  const VisibleSplits sees = visible_splits(visible_blocks(
      spec.visibility,
      span,
      span.start + queries.first / heads,
      span.start + (queries.first + queries.rows - 1) / heads));
  const std::vector<int64_t> splits = splits_to(plan, u);
  ASSERT_TRUE(std::is_sorted(splits.begin(), splits.end()));
  const std::set<int64_t> read(splits.begin(), splits.end());
  ASSERT_EQ(read.size(), splits.size());
  for (int64_t i = 0; i < sees.count(); ++i) {
    ASSERT_TRUE(read.contains(sees.at(i)));
  }
}

/// Members of a shared unit have the images of the first where they see them.
void expect_same_images(const Rows& rows, const AttendPlan& plan, int64_t u) {
  const AttendUnit& unit = plan.units[u];
  const auto& lead = rows.blocks()[plan.queries[unit.queries].row].images;
  for (int64_t m = 0; m < unit.members; ++m) {
    const AttendQueries& member = plan.queries[unit.queries + m];
    const RowSpan& span = rows.spans()[member.row];
    for (int64_t i = 0; i < unit.splits.count(); ++i) {
      const int64_t first = unit.splits.at(i) * kSplitBlocks;
      ASSERT_LE((first + kSplitBlocks) * kBlockTokens, span.start);
      for (int64_t b = first; b < first + kSplitBlocks; ++b) {
        if (visible_keys(
                rows.spec().visibility, {span.start, span.start + 1}, b) != 0) {
          ASSERT_TRUE(unit.blocks.has(b));
          ASSERT_EQ(rows.blocks()[member.row].images[b], lead[b]);
        }
      }
    }
  }
}

TEST(AttendSharePlan, ReadsEachVisibleSplitOfEachRowOnceInOrder) {
  std::mt19937 random(3);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  int64_t shared = 0, nested = 0;
  for (int draw = 0; draw < 400; ++draw) {
    const int64_t kv_heads = 1 + below(2);
    const int64_t heads = 1 + below(8);
    Rows rows(spec_of(
        heads * kv_heads, kv_heads, {below(2) * below(1500), below(700)}));
    const int64_t count = 2 + below(20);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t start = below(12) * kSplit + below(2) * below(70);
      rows.add({0, 1 + below(9), start}, below(r + 1) - 1, below(50));
    }
    rows.release();
    const AttendPlan plan = rows.plan(1 + static_cast<int>(below(3)));
    for (int64_t u = 0; u < static_cast<int64_t>(plan.units.size()); ++u) {
      if (plan.units[u].parent >= 0) {
        nested += plan.shared(u) ? 1 : 0;
        expect_in_parent(plan, u);
      }
      if (plan.shared(u)) {
        ++shared;
        ASSERT_LE(plan.units[u].rows, kUnitRows);
        expect_same_images(rows, plan, u);
      } else {
        expect_all_splits(rows, plan, u);
      }
    }
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(nested, 20);
}

} // namespace
} // namespace holdfast::cpu
