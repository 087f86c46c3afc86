// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the queries of a view see: masks, blocks and splits of rows of which
// they see a part.

#include <random>

#include <gtest/gtest.h>

#include "holdfast/kernels/cpu/attend_share.h"
#include "holdfast/kernels/cpu/attend_visible.h"

namespace holdfast::cpu {
namespace {

TEST(AttendView, SeesTheKeysOfItsSpanAndReadsTheBlocksThatHoldThem) {
  std::mt19937 random(20);
  const auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  int checked = 0;
  for (int draw = 0; draw < 1500; ++draw) {
    const Visibility sees{below(4) == 0 ? 0 : 1 + below(300), below(400)};
    RowSpan row{.first_token = 0, .count = 1 + below(40), .start = below(900)};
    row.seen_from = below(2) * below(700);
    row.seen_to = row.seen_from + 1 + below(700);
    const int64_t last = row.start + row.count - 1;
    const VisibleBlocks blocks = visible_blocks(sees, row, row.start, last);
    const VisibleSplits splits = visible_splits(blocks);
    std::vector<bool> has(16);
    bool all_see = true; // else the view is refused
    for (int64_t p = row.start; p <= last; ++p) {
      bool any = false;
      for (int64_t key = 0; key < 1024; ++key) {
        const bool seen = key >= row.seen_from && key < *row.seen_to &&
            key <= p &&
            (sees.window == 0 || key > p - sees.window || key < sees.sinks);
        const uint64_t mask =
            visible_keys(sees, sight_at(sees, row, p), key / kBlockTokens);
        ASSERT_EQ((mask >> key % kBlockTokens & 1) != 0, seen);
        any = any || seen;
        has[key / kBlockTokens] = has[key / kBlockTokens] || seen;
      }
      ASSERT_EQ(sees_any(sees, row, p), any);
      all_see = all_see && any;
    }
    checked += all_see;
    std::vector<int> read(4);
    for (int64_t i = 0; i < splits.count(); ++i) {
      ++read[splits.at(i)];
    }
    for (int64_t b = 0; all_see && b < 16; ++b) {
      const bool needed = has[b];
      // Sinks before the span lie in blocks that any window keeps.
      const bool spare = b < blocks.sink_blocks && b <= row.seen_from / 64;
      ASSERT_TRUE(blocks.has(b) == needed || (blocks.has(b) && spare))
          << "block " << b << ", window " << sees.window << " sinks "
          << sees.sinks << " [" << row.seen_from << ", " << *row.seen_to
          << ") at " << row.start << ".." << last;
      ASSERT_LE(read[b / kSplitBlocks], 1);
      ASSERT_TRUE(!needed || read[b / kSplitBlocks] == 1);
    }
  }
  EXPECT_GT(checked, 400);
}

} // namespace
} // namespace holdfast::cpu
