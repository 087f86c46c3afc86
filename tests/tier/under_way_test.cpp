// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What stores under way will take counts for all others; what one that failed
// leaves counts too, and goes as soon as it can.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/tier/disk_tier_core.h"
#include "holdfast/tier/unfinished_segment.h"
#include "tests/tier/sync_hook.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::SizeIs;

const ScopeText kScope{"model a"};

class StoresUnderWay : public testing::Test {
 protected:
  static constexpr int64_t kRows = 1000;

  StoresUnderWay() {
    plan_.add_bytes(
        ExtentType::kObject,
        std::as_bytes(std::span(std::string_view(value_))));
    rig_.open(); // makes the folder
  }
  void open(Bytes max_bytes) {
    core_.reset();
    rig_.options.max_bytes = max_bytes;
    core_.emplace(rig_.options);
    core_->folder->enter();
  }
  Status begin(UnfinishedSegment& segment) {
    return core_->run([&] {
      Removed removed;
      segment.begin(kRows, removed);
    });
  }
  Bytes used() {
    return core_->run([&] { return core_->used(core_->open_tiers()); }).value();
  }

  TierRig rig_;
  const std::string value_ = std::string(40000, 'v');
  SegmentPlan plan_;
  const SegmentPlan nothing_{}; // rows alone
  std::optional<DiskTierCore> core_;
};

TEST_F(StoresUnderWay, DoNotPassTheCapByWhatTheirRowsAdd) {
  open(Bytes(int64_t{1} << 30));
  const Bytes before = used();
  Bytes rows;
  {
    UnfinishedSegment one(*core_, plan_);
    ASSERT_TRUE(begin(one).ok());
    rows = Bytes(core_->growing);
    EXPECT_EQ(used(), before + plan_.file_bytes());
    UnfinishedSegment other(*core_, nothing_);
    ASSERT_TRUE(begin(other).ok());
    EXPECT_EQ(Bytes(core_->growing), rows + rows);
  }
  EXPECT_EQ(core_->growing, 0);
  ASSERT_GT(rows, plan_.file_bytes());
  // Room for two files, and for the rows of one.
  open(before + plan_.file_bytes() + plan_.file_bytes() + rows);
  std::optional<UnfinishedSegment> one;
  one.emplace(*core_, plan_);
  ASSERT_TRUE(begin(*one).ok());
  UnfinishedSegment other(*core_, plan_);
  EXPECT_EQ(begin(other).code(), ErrorCode::kOutOfBudget);
  UnfinishedSegment rows_alone(*core_, nothing_);
  EXPECT_EQ(begin(rows_alone).code(), ErrorCode::kOutOfBudget);
  one.reset();
  EXPECT_TRUE(begin(other).ok());
}

// What another process adds to the manifest takes room as its files do.
TEST(StoresOfOthers, CountInTheCapWithWhatTheyAddedToTheManifest) {
  TierRig wide; // its room is without end, nearly
  const auto other = wide.open();
  const ScopeId scope = other->scope(kScope).value();
  TierRig rig = wide;
  constexpr int kChats = 12;
  const auto store = [&](DiskTier& tier, int chat) {
    return tier.store(path_batch(scope, chat_tokens(chat, 64), rig.images));
  };
  for (int chat = 0; chat < kChats; ++chat) {
    ASSERT_TRUE(store(*other, chat).ok());
  }
  // So much as there is, and what a store needs.
  rig.options.max_bytes = rig.folder_bytes() + Bytes(300 << 10);
  const auto tier = rig.open();
  ASSERT_TRUE(store(*tier, kChats).value().removed.is_empty());
  const Bytes before = tier->stats().value().manifest;
  for (int chat = 100; chat < 140; ++chat) {
    StoreBatch rows = chat_batch(
        scope, chat_tokens(chat, 640), std::to_string(chat), rig.images);
    for (NodeToStore& node : rows.nodes) {
      node.images.clear();
    }
    rows.record->body.clear();
    ASSERT_EQ(other->store(rows).value().written, Bytes());
  }
  ASSERT_GT(tier->stats().value().manifest - before, Bytes(100'000));
  EXPECT_EQ(tier->stats().value().used, rig.folder_bytes());
  const Result<Stored> next = store(*tier, 50);
  ASSERT_TRUE(next.ok()) << next.status().text();
  EXPECT_FALSE(next.value().removed.nodes.empty());
  EXPECT_LE(rig.folder_bytes(), rig.options.max_bytes);
}

class FailedStore : public testing::Test {
 protected:
  FailedStore() {
    rig_.options.files = hooked_;
    tier_ = rig_.open();
    scope_ = tier_->scope(kScope).value();
  }
  Result<Stored> store(int chat, const std::string& name, int64_t tokens = 64) {
    return tier_->store(
        chat_batch(scope_, chat_tokens(chat, tokens), name, rig_.images));
  }
  void expect_counted_truly() {
    EXPECT_EQ(tier_->stats().value().used, rig_.folder_bytes());
  }

  TierRig rig_;
  const std::shared_ptr<SyncHook> hooked_ =
      std::make_shared<SyncHook>(rig_.memory);
  std::unique_ptr<DiskTier> tier_;
  ScopeId scope_;
};

TEST_F(FailedStore, LeavesNoUnfinishedFileBehindThatCouldNotBeRemovedAtOnce) {
  store(1, "a").value();
  hooked_->before_sync = [&] { rig_.memory->set_read_only(true); };
  EXPECT_EQ(store(2, "b").status().code(), ErrorCode::kIo);
  hooked_->before_sync = [] {};
  rig_.memory->set_read_only(false);
  hooked_->fail({.once = false, .only = FileCall::kRemove});
  expect_counted_truly();
  ASSERT_THAT(rig_.names("/open"), SizeIs(2)) << "it cannot be removed";
  hooked_->heal();
  EXPECT_TRUE(store(3, "c").ok());
  EXPECT_THAT(rig_.names("/open"), SizeIs(1)) << "the lock alone";
  EXPECT_EQ(tier_->report().removed, 1);
  expect_counted_truly();
}

TEST_F(FailedStore, LeavesNoUnfinishedFileBehindWhereNothingIsStoredAfterIt) {
  hooked_->before_sync = [&] { rig_.memory->set_read_only(true); };
  EXPECT_EQ(store(2, "b").status().code(), ErrorCode::kIo);
  rig_.memory->set_read_only(false);
  EXPECT_TRUE(tier_->prune().ok());
  EXPECT_THAT(rig_.names("/open"), SizeIs(1));
}

// Its file has a segment's name already when the record turns out to be older.
TEST_F(FailedStore, LeavesNoSegmentBehindThatCouldNotBeRemovedAtOnce) {
  bool first = true;
  hooked_->before_sync = [&] {
    if (std::exchange(first, false)) {
      store(2, "a", 100).value(); // a newer version
      hooked_->fail({.once = false, .only = FileCall::kRemove});
    }
  };
  EXPECT_EQ(store(1, "a").status().code(), ErrorCode::kStale);
  ASSERT_THAT(segments_of(*rig_.memory, "/state"), SizeIs(2));
  expect_counted_truly();
  hooked_->heal();
  EXPECT_TRUE(store(3, "c").ok());
  EXPECT_THAT(segments_of(*rig_.memory, "/state"), SizeIs(2));
  expect_counted_truly();
  expect_consistent(*tier_);
}

TEST_F(FailedStore, OfADeadProcessLeavesNoFileThatStopsOthers) {
  const std::string left = "/state/open/0123456789abcdef-8.unfinished";
  const auto file = rig_.memory->create(left).value();
  file->write(Bytes(0), std::vector<std::byte>(5000, std::byte{7})).check();
  hooked_->fail({.once = false, .only = FileCall::kRemove});
  EXPECT_TRUE(store(1, "a").ok());
  expect_counted_truly();
  hooked_->heal();
  EXPECT_TRUE(store(2, "b").ok());
  EXPECT_FALSE(rig_.memory->facts(left).ok());
  expect_counted_truly();
}

} // namespace
} // namespace holdfast::test
