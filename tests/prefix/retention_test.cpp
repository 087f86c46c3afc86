// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What leaves RAM, in which order, and what does not.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/code_of.h"
#include "tests/prefix/known.h"

namespace holdfast {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(Retention, ALinearChatCannotPushOutItsNeighbours) {
  Known known(full_rules(), budget_of(24 * kMiB), kMiB);
  for (int32_t chat = 1; chat <= 3; ++chat) {
    known.put(text_of(2 * 64, chat));
  }
  // Another grows to four times the budget, turn by turn.
  const Text grown = text_of(100 * 64, 9);
  for (int64_t blocks = 1; blocks <= 100; ++blocks) {
    known.put(grown.first(64 * blocks));
    ASSERT_LE(known.tree.bytes(), Bytes(25 * kMiB));
  }
  for (int32_t chat = 1; chat <= 3; ++chat) {
    EXPECT_EQ(known.usable(text_of(2 * 64, chat)), 127) << chat;
  }
  // It has the rest, its beginning.
  EXPECT_GE(known.usable(grown), 17 * 64);
}

TEST(Retention, TheOldestGoesFirstAmongEquals) {
  Known known(full_rules(), budget_of(8 * kMiB), kMiB);
  for (int32_t chat = 0; chat < 4; ++chat) {
    known.put(text_of(2 * 64, chat));
  }
  known.usable(text_of(2 * 64, 0)); // used again
  known.put(text_of(2 * 64, 4));
  EXPECT_EQ(known.usable(text_of(2 * 64, 0)), 127);
  EXPECT_LT(known.usable(text_of(2 * 64, 1)), 127);
  EXPECT_EQ(known.usable(text_of(2 * 64, 4)), 127);
}

TEST(Retention, ALeafGoesBeforeItsParents) {
  Known known(full_rules(), budget_of(8 * kMiB), kMiB);
  known.put(text_of(8 * 64, 1));
  known.put(text_of(64, 2));
  // One block of the old chat went: its last.
  EXPECT_EQ(known.usable(text_of(8 * 64, 1)), 7 * 64);
  const Why why = known.why(text_of(8 * 64, 1));
  EXPECT_EQ(why.end, Why::End::kEvicted);
  EXPECT_EQ(why.end_evicted->by, EvictedBy::kRamBudget);
}

TEST(Retention, WhatTheDiskHasGoesBeforeWhatOnlyRamHas) {
  Known known(full_rules(), budget_of(8 * kMiB), kMiB);
  known.put(text_of(4 * 64, 1)); // older, RAM alone
  known.store(known.put(text_of(4 * 64, 2)));
  known.put(text_of(3 * 64, 3));
  EXPECT_EQ(known.tree.stats().lost_images, 0);
  EXPECT_EQ(known.tree.stats().dropped_images, 3);
  EXPECT_EQ(known.usable(text_of(4 * 64, 1)), 255);
  EXPECT_EQ(known.usable(text_of(4 * 64, 2)), 255);
  const Why why = known.why(text_of(4 * 64, 2));
  EXPECT_EQ(why.from_ram, Position(64));
  EXPECT_EQ(why.from_disk, Position(191));
}

TEST(Retention, WhatSomebodyElseHoldsOrLeasesStays) {
  Known known(full_rules(), budget_of(4 * kMiB), kMiB);
  const Usable held = [&] {
    known.put(text_of(64, 1));
    return known.tree.usable(known.scope, text_of(64, 1).path());
  }();
  const Inserted leased = known.put(text_of(64, 2));
  const NodeLease lease = known.tree.lease(leased.leaf);
  ASSERT_TRUE(lease);
  for (int32_t chat = 3; chat < 20; ++chat) {
    known.put(text_of(64, chat));
  }
  known.tree.reclaim(Bytes(100 * kMiB));
  EXPECT_EQ(known.usable(text_of(64, 1)), 63);
  EXPECT_EQ(known.usable(text_of(64, 2)), 63);
  EXPECT_EQ(known.tree.stats().ram_images, 2);
  EXPECT_EQ(
      known.tree.bytes() - known.tree.stats().index_bytes, Bytes(2 * kMiB));
}

TEST(Retention, AHandleIsValidAfterItsEntryWent) {
  Known known(full_rules(), {}, kMiB);
  const Text text = text_of(64, 1);
  known.put(text);
  Usable found = known.tree.usable(known.scope, text.path());
  found.lease = {};
  known.tree.set_budget(Bytes(0));
  // Its block is held here, so that the entry stays; a copy then outlives it.
  const BlockRef block = found.images[0][0].ram;
  found.images.clear();
  EXPECT_TRUE(block.image() != nullptr);
  EXPECT_EQ(known.tree.stats().ram_images, 1);
  const std::byte first = block.image()[0];
  EXPECT_EQ(known.tree.forget(known.scope, text.path()), 0); // in use
  EXPECT_EQ(block.image()[0], first);
}

TEST(Retention, APinKeepsWhatOnlyRamHasOfAPath) {
  Known known(full_rules(), budget_of(6 * kMiB), kMiB);
  const Inserted pinned = known.put(text_of(2 * 64, 1));
  ASSERT_TRUE(known.tree.pin(pinned.leaf));
  for (int32_t chat = 2; chat < 12; ++chat) {
    known.put(text_of(2 * 64, chat));
  }
  EXPECT_EQ(known.usable(text_of(2 * 64, 1)), 127);
  EXPECT_EQ(known.tree.forget(known.scope, text_of(2 * 64, 1).path()), 0);
  ASSERT_TRUE(known.tree.unpin(pinned.leaf));
  EXPECT_EQ(
      code_of([&] { known.tree.unpin(pinned.leaf); }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(known.tree.forget(known.scope, text_of(2 * 64, 1).path()), 2);
  EXPECT_EQ(known.usable(text_of(2 * 64, 1)), 0);
  EXPECT_FALSE(known.tree.pin(pinned.leaf)); // gone
}

TEST(Retention, APinnedTailIsNotSuperseded) {
  Known known(full_rules());
  const Text text = text_of(100);
  const Inserted pinned = known.put(text.first(80));
  known.tree.pin(pinned.leaf);
  known.put(text);
  EXPECT_EQ(known.tree.stats().ram_images, 3);
  known.tree.check();
  known.tree.unpin(pinned.leaf);
  known.put(text.first(98));
  known.tree.check();
}

TEST(Retention, TimeToLiveCountsFromTheLastUse) {
  const auto clock = std::make_shared<ManualClock>();
  Known known(full_rules(), {.clock = clock});
  using std::chrono::seconds;
  known.put(text_of(100, 1), {}, {.time_to_live = seconds(10)});
  known.put(text_of(100, 2));
  clock->advance(seconds(9));
  EXPECT_EQ(known.usable(text_of(100, 1)), 99);
  clock->advance(seconds(9));
  EXPECT_EQ(known.usable(text_of(100, 1)), 99);
  clock->advance(seconds(10));
  EXPECT_EQ(known.usable(text_of(100, 1)), 0);
  EXPECT_EQ(known.why(text_of(100, 1)).end_evicted->by, EvictedBy::kTimeToLive);
  EXPECT_EQ(known.usable(text_of(100, 2)), 99);
  EXPECT_EQ(known.tree.stats().expired_images, 2);
}

TEST(Retention, WhatExpiredInUseGoesOnceItIsFree) {
  const auto clock = std::make_shared<ManualClock>();
  Known known(full_rules(), {.clock = clock});
  using std::chrono::seconds;
  const Inserted put =
      known.put(text_of(64, 1), {}, {.time_to_live = seconds(10)});
  NodeLease lease = known.tree.lease(put.leaf);
  clock->advance(seconds(11));
  known.put(text_of(64, 2));
  EXPECT_EQ(known.tree.stats().ram_images, 2);
  lease = {};
  clock->advance(seconds(2));
  known.put(text_of(64, 3));
  EXPECT_EQ(known.tree.stats().ram_images, 2);
  known.tree.check();
}

TEST(Retention, PriorityOutweighsAge) {
  Known known(full_rules(), budget_of(8 * kMiB), kMiB);
  known.put(text_of(2 * 64, 1), {}, {.priority = 8});
  for (int32_t chat = 2; chat < 12; ++chat) {
    known.put(text_of(2 * 64, chat));
  }
  EXPECT_EQ(known.usable(text_of(2 * 64, 1)), 127);
  EXPECT_EQ(
      code_of([&] { known.put(text_of(9), {}, {.priority = 9}); }),
      ErrorCode::kInvalidArgument);
}

TEST(Retention, ASharedBlockCountsOnce) {
  Known known(full_rules(), {}, kMiB);
  const Text text = text_of(64, 1);
  const BlockRef one = known.rig.image(text, 0, {0, 0});
  const GivenImage given{BlockIndex(0), {0, 0}, one};
  const ScopeHandle other =
      known.tree.open(PrefixRig::scope("b"), known.rig.rules);
  known.tree.insert(known.scope, text.path(), {&given, 1});
  known.tree.insert(other, text.path(), {&given, 1});
  EXPECT_EQ(known.tree.stats().ram_images, 2);
  EXPECT_EQ(known.tree.stats().image_bytes, Bytes(kMiB));
  known.tree.check();
}

TEST(Retention, ASmallerBudgetBindsAtOnce) {
  Known known(full_rules(), {}, kMiB);
  for (int32_t chat = 0; chat < 10; ++chat) {
    known.put(text_of(64, chat));
  }
  known.tree.set_budget(Bytes(5 * kMiB));
  EXPECT_LE(known.tree.bytes(), Bytes(5 * kMiB));
  EXPECT_EQ(known.tree.stats().ram_images, 4);
  EXPECT_EQ(known.rig.pool.live_bytes(), Bytes(4 * kMiB));
  known.tree.check();
}

} // namespace
} // namespace holdfast
