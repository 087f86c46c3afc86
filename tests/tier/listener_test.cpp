// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a listener hears of a tier, and when: at once, and nothing that may yet
// come back.

#include "holdfast/tier/tier_listener.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tier/heard.h"
#include "tests/tier/sync_hook.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;

const ScopeText kScope{"model a"};

class Listening : public testing::Test {
 protected:
  Listening() {
    rig_.options.files = hooked_;
    rig_.options.max_bytes = Bytes(int64_t{1} << 20);
    tier_ = rig_.open();
    scope_ = tier_->scope(kScope).value();
  }
  Result<Stored> store_chat(
      int chat,
      const std::function<void(const Stored&)>& committed = {}) {
    return tier_->store(
        path_batch(scope_, chat_tokens(chat, 64), rig_.images), committed);
  }
  /// Fills the folder until the next chat has to evict.
  int fill() {
    Heard heard(*tier_);
    int chat = 0;
    while (heard.all.nodes.empty()) {
      store_chat(chat++).value();
    }
    return chat;
  }

  TierRig rig_;
  const std::shared_ptr<SyncHook> hooked_ =
      std::make_shared<SyncHook>(rig_.memory);
  std::unique_ptr<DiskTier> tier_;
  ScopeId scope_;
};

TEST_F(Listening, HearsAnEvictionWhileTheStoreThatMadeItIsBeingWritten) {
  Heard heard(*tier_);
  std::optional<Removed> early;
  hooked_->before_sync = [&] {
    if (!early && !heard.all.nodes.empty()) {
      early = heard.all;
    }
  };
  Stored stored;
  for (int chat = 0; !early && chat < 200; ++chat) {
    stored = store_chat(chat).value();
  }
  ASSERT_TRUE(early);
  EXPECT_EQ(early->nodes, stored.removed.nodes);
}

/// Keeps what the device has at each call.
class Devices : public TierListener {
 public:
  explicit Devices(TierRig& rig, DiskTier& tier)
      : rig_(rig), listening_(tier.listen(*this)) {}
  void removed(const Removed& removed) override {
    told.push_back(
        {removed.nodes,
         rig_.memory->power_loss({.keep = PowerLoss::Keep::kNothing})});
  }
  void lost(const Lost&) override {}
  void set_aside() override {}

  struct Told {
    std::vector<NodeId> nodes;
    std::shared_ptr<MemoryFileSystem> device;
  };
  std::vector<Told> told;

 private:
  TierRig& rig_;
  const std::shared_ptr<const void> listening_;
};

TEST_F(Listening, HearsNothingThatALossOfPowerBringsBack) {
  Devices devices(rig_, *tier_);
  fill();
  StoreBatch longer = path_batch(scope_, chat_tokens(900, 70), rig_.images);
  const Stored tail = tier_->store(longer).value();
  longer = path_batch(scope_, chat_tokens(900, 80), rig_.images);
  longer.nodes[1].supersedes = {tail.nodes[1]};
  ASSERT_TRUE(tier_->store(longer).ok());
  ASSERT_TRUE(tier_->remove_nodes(std::span(tail.nodes).first(1)).ok());
  size_t nodes = 0;
  for (const Devices::Told& told : devices.told) {
    DiskTierOptions options = rig_.options;
    options.files = told.device;
    const auto after = DiskTier::open(options).value();
    Offered all;
    ASSERT_TRUE(after->load(all).ok());
    for (const NodeId id : told.nodes) {
      EXPECT_FALSE(all.nodes.contains(id));
      ++nodes;
    }
  }
  EXPECT_GE(nodes, 4u) << "evicted, superseded, and two that were removed";
}

// Whoever keeps an index of the tier notes what is stored before he can hear
// that it went.
TEST_F(Listening, OfAStoreHearsThatItIsCommittedBeforeItsNodesCanGo) {
  class Order : public TierListener {
   public:
    explicit Order(DiskTier& tier) : listening_(tier.listen(*this)) {}
    void removed(const Removed& removed) override {
      for (const NodeId id : removed.nodes) {
        unknown += std::erase(known, id) == 0;
      }
    }
    void lost(const Lost&) override {}
    void set_aside() override {}
    std::vector<NodeId> known; // in the tier's access
    int unknown = 0;

   private:
    const std::shared_ptr<const void> listening_;
  };
  Order order(*tier_);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 40; ++i) {
        const auto stored =
            store_chat(1000 * thread + i, [&](const Stored& now) {
              order.known.insert(
                  order.known.end(), now.nodes.begin(), now.nodes.end());
            });
        EXPECT_TRUE(stored.ok()) << stored.status().text();
        EXPECT_TRUE(tier_->evict(Bytes(1)).ok());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(order.unknown, 0);
  std::vector<NodeId> left;
  for (const auto& [id, node] : offered(*tier_).nodes) {
    left.push_back(id);
  }
  std::ranges::sort(order.known);
  EXPECT_EQ(order.known, left);
}

TEST_F(Listening, HearsThatTheManifestWasSetAside) {
  store_chat(1).value();
  Heard heard(*tier_);
  const std::string path = "/state/manifest.db";
  const Bytes size = rig_.memory->facts(path).value().size;
  const std::string noise(static_cast<size_t>(size.get()), '?');
  rig_.memory->open(path, FileSystem::Access::kReadWrite)
      .value()
      ->write(Bytes(0), std::as_bytes(std::span(noise)))
      .check();
  EXPECT_TRUE(offered(*tier_).nodes.empty());
  EXPECT_EQ(heard.manifests, 1);
}

TEST_F(Listening, HearsThatAnotherProcessSetTheManifestAside) {
  store_chat(1).value();
  Heard heard(*tier_);
  flip(*rig_.memory, "/state/manifest.db", 2000);
  rig_.open();
  EXPECT_TRUE(offered(*tier_).nodes.empty());
  EXPECT_EQ(heard.manifests, 1);
}

TEST_F(Listening, HearsOfAnImageThatCannotBeReadWhoeverFindsOut) {
  const Stored stored = store_chat(1).value();
  Heard heard(*tier_);
  Heard other(*tier_);
  flip(
      *rig_.memory,
      segments_of(*rig_.memory, "/state")[0],
      stored.images[0][0].offset.get());
  EXPECT_EQ(
      tier_->map(stored.images[0][0]).status().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(heard.images, ElementsAre(stored.images[0][0]));
  EXPECT_THAT(other.images, ElementsAre(stored.images[0][0]));
}

TEST_F(Listening, HearsOfWhateverVerbTookSomethingUntilItEnds) {
  const Stored first = store_chat(1).value();
  const Stored second = store_chat(2).value();
  {
    Heard heard(*tier_);
    tier_->remove_nodes(first.nodes).value();
    EXPECT_THAT(heard.all.nodes, ElementsAre(first.nodes[0]));
    tier_->forget_all().value();
    EXPECT_THAT(heard.all.nodes, ElementsAre(first.nodes[0], second.nodes[0]));
  }
  Heard later(*tier_);
  const Stored third = store_chat(3).value();
  tier_->evict(Bytes(1)).value();
  EXPECT_THAT(later.all.nodes, ElementsAre(third.nodes[0]));
}

TEST_F(Listening, TheTierSaysWhichImagesItHas) {
  const Stored stored = store_chat(1).value();
  std::vector<NamedImage> images;
  for (const ImageSlot slot : {kFull, kSliding}) {
    images.push_back(
        {.node = stored.nodes[0],
         .slot = slot,
         .extent = stored.images[0][static_cast<size_t>(slot.group)]});
  }
  EXPECT_TRUE(tier_->has(images).value());
  EXPECT_TRUE(tier_->has({}).value());
  std::swap(images[0].extent, images[1].extent);
  EXPECT_FALSE(tier_->has(images).value());
  std::swap(images[0].extent, images[1].extent);
  tier_->remove_nodes(stored.nodes).value();
  EXPECT_FALSE(tier_->has(images).value());
}

} // namespace
} // namespace holdfast::test
