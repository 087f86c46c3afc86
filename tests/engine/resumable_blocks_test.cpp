// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that hold fewer blocks than were computed since the last one.

#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/engine/resumable_run.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "tests/state/layers.h"

namespace holdfast::test {
namespace {

constexpr int64_t kText = 300; // four full blocks

/// A run of one row whose checkpoints hold one block each.
class FewBlocks : public testing::Test {
 protected:
  void open(Bytes max_bytes) {
    PrefixCacheOptions with;
    with.disk = DiskTier::open({.folder = "/state",
                                .max_bytes = max_bytes,
                                .files = files_,
                                .clock = clock_})
                    .value();
    with.clock = clock_;
    with.checkpoint_images = Bytes(1);
    cache_ = std::make_unique<PrefixCache>(state_, with);
    run_ = std::make_unique<ResumableRun>(
        *cache_,
        ResumableOptions{
            .key = "k",
            .every_tokens = kText,
            .every = std::chrono::hours(1),
            .clock = clock_});
    std::iota(tokens_.begin(), tokens_.end(), 0);
    run_->begin({}, std::vector<std::vector<int32_t>>{tokens_});
    const RowId row = cache_->begin({tokens_}).row;
    append_to(state_, row, {&vectors_, 0, kText});
    cache_->grew(row, {tokens_});
  }
  void save() {
    ResumeRow row;
    row.prompt = tokens_;
    run_->save({row}, std::vector<std::vector<int32_t>>{tokens_});
    EXPECT_TRUE(run_->flush().durable);
  }
  int64_t nodes() const {
    return cache_->disk()->stats().value().nodes;
  }

  const std::shared_ptr<MemoryFileSystem> files_ = MemoryFileSystem::make();
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  const Sequence vectors_{kText, 7};
  std::vector<int32_t> tokens_ = std::vector<int32_t>(kText);
  State state_{options("bf16")};
  std::unique_ptr<PrefixCache> cache_;
  std::unique_ptr<ResumableRun> run_;
};

TEST_F(FewBlocks, AreFollowedByTheOthersAsSoonAsTheyAreWritten) {
  open(Bytes(int64_t{1} << 30));
  ASSERT_TRUE(run_->due(kText));
  for (const int64_t held : {1, 2, 3, 4}) {
    save();
    EXPECT_EQ(nodes(), held);
    EXPECT_EQ(run_->left(), 4 - held);
    EXPECT_EQ(run_->due(1), held < 4);
  }
}

TEST_F(FewBlocks, AreDueAgainAfterTheIntervalAndNotBefore) {
  open(Bytes(int64_t{1} << 30));
  while (run_->due(kText)) {
    save();
    if (run_->left() == 0) {
      break;
    }
  }
  clock_->advance(std::chrono::minutes(59));
  EXPECT_FALSE(run_->due(1));
  clock_->advance(std::chrono::minutes(1));
  EXPECT_TRUE(run_->due(1));
  save();
  EXPECT_FALSE(run_->due(1)) << "it begins anew";
}

// It would write a record at each step.
TEST_F(FewBlocks, AreNotTriedAgainAtEachStepWhereTheDiskHasNoRoom) {
  open(Bytes(300'000)); // of which an empty manifest has 80 KiB
  ASSERT_TRUE(run_->due(kText));
  save();
  EXPECT_EQ(nodes(), 0);
  int64_t early = 0;
  for (int64_t step = 1; step < kText - 10; ++step) {
    if (run_->due(1)) {
      save();
      ++early;
    }
  }
  EXPECT_LE(early, 1);
}

} // namespace
} // namespace holdfast::test
