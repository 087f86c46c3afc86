// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The byte budget of a disk tier, eviction, full devices.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/tier/heard.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const ScopeText kScope{"model a"};
constexpr Bytes kChatFile(5 * 4096); // of one block: header, 3 pages, directory

/// Stores a chat of one block; its node, or the error.
Result<Stored> store_chat(TierRig& rig, DiskTier& tier, int chat) {
  const ScopeId scope = tier.scope(kScope).value();
  return tier.store(path_batch(scope, chat_tokens(chat, 64), rig.images));
}

/// A cap with room for this many chats beside the manifest and what a commit
/// may add to it.
Bytes cap_for(TierRig& rig, int chats) {
  {
    const auto tier = rig.open();
    tier->scope(kScope).value();
  }
  return rig.folder_bytes() + Bytes(260 << 10) + Bytes(kChatFile.get() * chats);
}

TEST(DiskTierBudget, NeverHoldsMoreThanItsCap) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 10);
  const auto tier = rig.open();
  for (int chat = 0; chat < 100; ++chat) {
    const auto stored = store_chat(rig, *tier, chat);
    ASSERT_TRUE(stored.ok()) << chat << stored.status().text();
    ASSERT_LE(rig.folder_bytes(), rig.options.max_bytes) << chat;
  }
  const Offered all = offered(*tier);
  EXPECT_GE(all.nodes.size(), 5u);
  EXPECT_EQ(all.restorable(chat_tokens(99, 64)), 64) << "the newest";
  EXPECT_EQ(all.restorable(chat_tokens(0, 64)), 0) << "the oldest";
  expect_consistent(*tier);
}

TEST(DiskTierBudget, AStoreThatFailsAfterItEvictedSaysWhatWent) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 10);
  const auto faulty = std::make_shared<FaultyFileSystem>(rig.memory);
  rig.options.files = faulty;
  const auto tier = rig.open();
  std::vector<NodeId> nodes;
  int chat = 0;
  for (bool evicted = false; !evicted; ++chat) {
    const Stored stored = store_chat(rig, *tier, chat).value();
    nodes.push_back(stored.nodes[0]);
    evicted = !stored.removed.nodes.empty();
  }
  const auto there = [&] { return offered(*tier).nodes; };
  for (const bool object : {false, true}) {
    // Until one has to evict: the new segment cannot be made.
    Removed removed;
    for (int more = 0; removed.nodes.empty() && more < 20; ++more) {
      const auto before = there();
      faulty->fail({.only = FileCall::kCreate});
      const std::string value(40000, 'v');
      const ObjectToStore given{
          .space = "encoder",
          .key = "a",
          .bytes = std::as_bytes(std::span(value.data(), value.size()))};
      Heard heard(*tier);
      const Status status = object
          ? tier->put_objects(std::span(&given, 1)).status()
          : tier->store(path_batch(
                            tier->scope(kScope).value(),
                            chat_tokens(chat, 64),
                            rig.images))
                .status();
      EXPECT_EQ(status.code(), ErrorCode::kIo);
      removed = heard.all;
      faulty->heal();
      const auto after = there();
      EXPECT_EQ(after.size() + removed.nodes.size(), before.size());
      for (const NodeId id : removed.nodes) {
        EXPECT_TRUE(before.contains(id) && !after.contains(id));
      }
      store_chat(rig, *tier, chat++).value();
    }
    EXPECT_FALSE(removed.nodes.empty());
  }
  expect_consistent(*tier);
}

TEST(DiskTierBudget, HoldsAcrossRestartsWithASmallerCap) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 20);
  {
    const auto tier = rig.open();
    for (int chat = 0; chat < 20; ++chat) {
      ASSERT_TRUE(store_chat(rig, *tier, chat).ok());
    }
  }
  rig.options.max_bytes = rig.options.max_bytes - Bytes(kChatFile.get() * 15);
  const auto tier = rig.open();
  EXPECT_LE(rig.folder_bytes(), rig.options.max_bytes);
  ASSERT_TRUE(store_chat(rig, *tier, 99).ok());
  EXPECT_LE(rig.folder_bytes(), rig.options.max_bytes);
}

TEST(DiskTierBudget, EvictsWhatWasOfNoUseTheLongest) {
  TierRig rig;
  const auto tier = rig.open();
  std::vector<NodeId> nodes;
  for (int chat = 0; chat < 4; ++chat) {
    nodes.push_back(store_chat(rig, *tier, chat).value().nodes[0]);
  }
  tier->touch(std::vector{nodes[0]}, 64);
  const Removed removed = tier->evict(Bytes(1)).value();
  EXPECT_THAT(removed.nodes, testing::ElementsAre(nodes[1]));
  EXPECT_EQ(removed.freed, kChatFile);
}

TEST(DiskTierBudget, AClockThatJumpsBackDoesNotChangeWhoGoesFirst) {
  TierRig rig;
  const auto tier = rig.open();
  const NodeId first = store_chat(rig, *tier, 0).value().nodes[0];
  rig.clock->set_wall_ns(1);
  store_chat(rig, *tier, 1).value();
  EXPECT_THAT(tier->evict(Bytes(1)).value().nodes, testing::ElementsAre(first));
}

TEST(DiskTierBudget, KeepsWhatIsDearerToComputeAgain) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  StoreBatch dear = path_batch(scope, chat_tokens(0, 64), rig.images);
  dear.nodes[0].cost = int64_t{3600} * 1000000000;
  ASSERT_TRUE(tier->store(dear).ok());
  std::vector<NodeId> cheap;
  for (int chat = 1; chat < 5; ++chat) {
    cheap.push_back(store_chat(rig, *tier, chat).value().nodes[0]);
  }
  const Removed removed = tier->evict(Bytes(4 * kChatFile.get())).value();
  EXPECT_THAT(removed.nodes, testing::UnorderedElementsAreArray(cheap));
}

TEST(DiskTierBudget, EvictsChildrenBeforeTheirParents) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const Tokens tokens = chat_tokens(1, 320);
  const auto stored =
      tier->store(path_batch(scope, tokens, rig.images)).value();
  for (int64_t left = 256; left >= 0; left -= 64) {
    const Removed removed = tier->evict(Bytes(1)).value();
    EXPECT_EQ(removed.nodes.size(), 1u);
    EXPECT_EQ(offered(*tier).restorable(tokens), left);
    EXPECT_GT(removed.freed, Bytes(0)) << "its pages are punched";
  }
  EXPECT_TRUE(segments_of(*rig.memory, "/state").empty());
  expect_consistent(*tier);
}

TEST(DiskTierBudget, NeverEvictsWhatIsPinned) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const Tokens pinned = chat_tokens(1, 130);
  const auto a = tier->store(path_batch(scope, pinned, rig.images)).value();
  ASSERT_TRUE(tier->pin_nodes(std::vector{a.nodes.back()}, true).ok());
  StoreBatch chat = chat_batch(scope, chat_tokens(2, 100), "b", rig.images);
  chat.record->pinned = true;
  ASSERT_TRUE(tier->store(chat).ok());
  store_chat(rig, *tier, 3).value();
  const Removed removed = tier->evict(Bytes(int64_t{1} << 40)).value();
  EXPECT_EQ(removed.nodes.size(), 1u);
  EXPECT_TRUE(removed.records.empty());
  const Offered all = offered(*tier);
  EXPECT_EQ(all.restorable(pinned), 130);
  EXPECT_EQ(all.restorable(chat_tokens(2, 100)), 100);
  ASSERT_TRUE(tier->pin_nodes(std::vector{a.nodes.back()}, false).ok());
  ASSERT_TRUE(tier->pin_record({"chat", "b"}, false).ok());
  EXPECT_EQ(tier->evict(Bytes(int64_t{1} << 40)).value().records.size(), 1u);
  EXPECT_EQ(tier->stats().value().nodes, 0);
}

TEST(DiskTierBudget, NeverEvictsWhatIsMapped) {
  TierRig rig;
  const auto tier = rig.open();
  const auto stored = store_chat(rig, *tier, 1).value();
  const MappedImage image = tier->map(stored.images[0][0]).value();
  EXPECT_TRUE(tier->evict(Bytes(int64_t{1} << 40)).value().nodes.empty());
  EXPECT_EQ(offered(*tier).nodes.size(), 1u);
}

TEST(DiskTierBudget, WhatExpiredGoesFirst) {
  TierRig rig;
  const auto tier = rig.open();
  store_chat(rig, *tier, 1).value();
  const auto late = store_chat(rig, *tier, 2).value();
  const int64_t now = rig.clock->wall_ns();
  ASSERT_TRUE(tier->expire_nodes(late.nodes, now + 10).ok());
  EXPECT_TRUE(tier->prune().value().nodes.empty());
  rig.clock->set_wall_ns(now + 10);
  EXPECT_EQ(tier->prune().value().nodes, late.nodes);
  EXPECT_EQ(offered(*tier).nodes.size(), 1u);
}

TEST(DiskTierBudget, RefusesWhatCanNeverFitAndEvictsNothingForIt) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 10);
  const auto tier = rig.open();
  for (int chat = 0; chat < 5; ++chat) {
    ASSERT_TRUE(store_chat(rig, *tier, chat).ok());
  }
  const ScopeId scope = tier->scope(kScope).value();
  const Status status =
      tier->store(path_batch(scope, chat_tokens(9, 64 * 40), rig.images))
          .status();
  EXPECT_EQ(status.code(), ErrorCode::kOutOfBudget);
  EXPECT_THAT(status.text(), HasSubstr("expected room for"));
  EXPECT_EQ(offered(*tier).nodes.size(), 5u);
  EXPECT_EQ(rig.names("/open").size(), 1u) << "nothing unfinished is left";
}

TEST(DiskTierBudget, AStoreDoesNotEvictWhatItBuildsOn) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 4);
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const auto first = store_chat(rig, *tier, 0).value();
  for (int chat = 1; chat < 4; ++chat) {
    ASSERT_TRUE(store_chat(rig, *tier, chat).ok());
  }
  StoreBatch batch = path_batch(scope, chat_tokens(0, 128), rig.images);
  batch.nodes.erase(batch.nodes.begin());
  batch.nodes[0].parent_in_batch = -1;
  batch.nodes[0].parent = first.nodes[0];
  const auto next = tier->store(batch);
  ASSERT_TRUE(next.ok()) << next.status().text();
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(0, 128)), 128);
}

TEST(DiskTierBudget, ADaysLimitEndsAtMidnight) {
  TierRig rig;
  rig.options.daily_bytes = Bytes(1 << 20);
  const auto tier = rig.open();
  int stored = 0;
  Status last;
  for (int chat = 0; chat < 20 && last.ok(); ++chat) {
    last = store_chat(rig, *tier, chat).status();
    stored += last.ok();
  }
  EXPECT_EQ(last.code(), ErrorCode::kOutOfBudget);
  EXPECT_THAT(last.text(), HasSubstr("a day"));
  EXPECT_GE(stored, 1);
  EXPECT_EQ(offered(*tier).nodes.size(), static_cast<size_t>(stored));
  rig.clock->set_wall_ns(rig.clock->wall_ns() + int64_t{86400} * 1000000000);
  EXPECT_TRUE(store_chat(rig, *tier, 50).ok());
}

// FAULTS B70: a full disk.
TEST(DiskTierBudget, AFullDeviceLosesNothingAndStoresResume) {
  TierRig rig;
  const auto tier = rig.open();
  rig.memory->set_room(Bytes(int64_t{8} << 20));
  Status last;
  int stored = 0;
  while (last.ok()) {
    last = store_chat(rig, *tier, stored).status();
    stored += last.ok();
  }
  EXPECT_EQ(last.code(), ErrorCode::kOutOfBudget) << last.text();
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(
        store_chat(rig, *tier, stored).status().code(),
        ErrorCode::kOutOfBudget);
  }
  EXPECT_EQ(rig.names("/open").size(), 1u) << "no half files";
  EXPECT_EQ(offered(*tier).nodes.size(), static_cast<size_t>(stored));
  rig.memory->set_room(Bytes(int64_t{16} << 20));
  EXPECT_TRUE(store_chat(rig, *tier, stored).ok());
  expect_consistent(*tier);
}

// The same at every free page from none to plenty, where the manifest or its
// journal is what does not fit.
TEST(DiskTierBudget, AnyLackOfRoomIsNotStoredAndNothingElse) {
  TierRig rig;
  const auto tier = rig.open();
  ASSERT_TRUE(store_chat(rig, *tier, 0).ok());
  const Bytes start = bytes_below(*rig.memory, "/state");
  int refused = 0;
  for (int pages = 0; pages < 80; ++pages) {
    rig.memory->set_room(start + Bytes(pages * 4096));
    const auto stored = store_chat(rig, *tier, 1);
    if (stored.ok()) {
      ASSERT_TRUE(tier->remove_nodes(stored.value().nodes).ok());
      continue;
    }
    ++refused;
    ASSERT_EQ(stored.status().code(), ErrorCode::kOutOfBudget);
    ASSERT_EQ(offered(*tier).nodes.size(), 1u);
    ASSERT_EQ(segments_of(*rig.memory, "/state").size(), 1u);
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 80);
  expect_consistent(*tier);
}

// FAULTS B69: files of another format count in the cap, and go first.
TEST(DiskTierBudget, FilesOfAnotherFormatCountAndGoOldestFirst) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 20);
  std::vector<std::string> old;
  {
    const auto tier = rig.open();
    for (int chat = 0; chat < 15; ++chat) {
      ASSERT_TRUE(store_chat(rig, *tier, chat).ok());
    }
    old = segments_of(*rig.memory, "/state");
  }
  // Another version wrote them: the field after the magic.
  for (const std::string& path : old) {
    flip(*rig.memory, path, 8);
  }
  flip(*rig.memory, "/state/manifest.db", 2000);
  const auto tier = rig.open();
  EXPECT_TRUE(offered(*tier).nodes.empty());
  EXPECT_GE(tier->stats().value().foreign, Bytes(15 * kChatFile.get()));
  std::string reasons;
  for (const TierFinding& finding : tier->report().findings) {
    reasons += finding.file + ": " + finding.reason + "\n";
  }
  EXPECT_THAT(reasons, HasSubstr("a segment of another format"));
  for (int chat = 0; chat < 20; ++chat) {
    const auto stored = store_chat(rig, *tier, chat);
    ASSERT_TRUE(stored.ok()) << chat << ": " << stored.status().text();
    ASSERT_LE(rig.folder_bytes(), rig.options.max_bytes) << chat;
  }
  EXPECT_EQ(offered(*tier).nodes.size(), 20u)
      << "foreign files go before what is stored";
}

TEST(DiskTierBudget, EntriesOfAnotherModelAreEvictedLikeAnyOther) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 10);
  const auto tier = rig.open();
  const Tokens tokens = chat_tokens(1, 64);
  ASSERT_TRUE(
      tier
          ->store(path_batch(
              tier->scope({"an old model"}).value(), tokens, rig.images))
          .ok());
  for (int chat = 0; chat < 20; ++chat) {
    ASSERT_TRUE(store_chat(rig, *tier, chat).ok());
  }
  EXPECT_EQ(offered(*tier).find(tokens), nullptr);
}

TEST(DiskTierBudget, FilesOfOthersCountButAreNeverRemoved) {
  TierRig rig;
  rig.options.max_bytes = cap_for(rig, 10);
  const auto tier = rig.open();
  const auto file = rig.memory->create("/state/notes.txt").value();
  file->write(
          Bytes(0), std::vector<std::byte>(5 * kChatFile.get(), std::byte{7}))
      .check();
  for (int chat = 0; chat < 30; ++chat) {
    ASSERT_TRUE(store_chat(rig, *tier, chat).ok());
    ASSERT_LE(rig.folder_bytes(), rig.options.max_bytes) << chat;
  }
  EXPECT_THAT(rig.names(), Contains("notes.txt"));
}

} // namespace
} // namespace holdfast::test
