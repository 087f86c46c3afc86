// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The index over what a disk tier has, gets and loses.

#include <gtest/gtest.h>

#include <vector>

#include "tests/code_of.h"
#include "tests/prefix/known.h"

namespace holdfast {
namespace {

TEST(DiskIndex, WritesEachImageOnceAndATurnsNewTokensAlone) {
  Known known(full_rules());
  const Text text = text_of(300);
  const Inserted first = known.put(text.first(200));
  const WriteBatch batch = known.tree.begin_write(first.fresh);
  ASSERT_EQ(batch.nodes.size(), 4u);
  EXPECT_EQ(batch.nodes[0].parent_in_batch, -1);
  EXPECT_EQ(batch.nodes[3].parent_in_batch, 2);
  EXPECT_EQ(batch.nodes[3].tokens.size(), 8u);
  // Under way: not written a second time.
  EXPECT_TRUE(known.tree.begin_write(first.fresh).nodes.empty());
  known.tree.stored(batch, known.disk.store(batch));
  EXPECT_TRUE(known.put(text.first(200)).fresh.empty());
  const Inserted next = known.put(text);
  const WriteBatch more = known.tree.begin_write(next.fresh);
  ASSERT_EQ(more.nodes.size(), 2u); // the block that was a tail, and a tail
  EXPECT_EQ(more.nodes[0].parent, NodeId(3));
  EXPECT_EQ(more.nodes[0].supersedes, std::vector<NodeId>{NodeId(4)});
  known.tree.stored(more, known.disk.store(more));
  EXPECT_EQ(known.tree.stats().disk_images, 5);
  known.tree.check();
}

TEST(DiskIndex, SaysWhatOnlyRamHasOfAPathWhoeverPutItIn) {
  Known known({{}, {.window = 2}});
  const Text text = text_of(200);
  known.put(text.first(128)); // and nobody asked what is new
  EXPECT_EQ(known.put(text.first(150)).fresh.size(), 3u);
  // A path that ends within a longer one's block: that one's images.
  known.put(text);
  const Inserted within = known.put(text.first(140));
  ASSERT_EQ(within.fresh.size(), 3u);
  EXPECT_EQ(within.fresh[2].slots.size(), 2u);
  EXPECT_EQ(within.leaf, within.fresh[2].node);
  known.store(within);
  EXPECT_TRUE(known.put(text.first(140)).fresh.empty());
  known.tree.reclaim(Bytes(1 << 30));
  EXPECT_EQ(known.usable(text.first(141)), 140);
}

TEST(DiskIndex, ATailOnDiskStaysUntilWhatExtendsItIsThere) {
  Known known(full_rules());
  const Text text = text_of(100);
  known.store(known.put(text.first(40)));
  const Inserted longer = known.put(text.first(64));
  {
    const WriteBatch batch = known.tree.begin_write(longer.fresh);
    EXPECT_EQ(known.tree.stats().disk_images, 1);
    EXPECT_FALSE(known.tree.not_stored(batch).empty());
  }
  known.tree.reclaim(Bytes(1 << 30)); // RAM forgets all
  EXPECT_EQ(known.usable(text), 40);
  known.store(known.put(text.first(64)));
  EXPECT_EQ(known.tree.stats().disk_images, 1);
  known.tree.reclaim(Bytes(1 << 30));
  EXPECT_EQ(known.usable(text), 64);
}

TEST(DiskIndex, FindsOverRamAndDiskTogether) {
  Known known({{}, {.window = 70}});
  const Text text = text_of(400);
  known.store(known.put(text.first(256)));
  known.tree.reclaim(Bytes(1 << 30));
  EXPECT_EQ(known.tree.stats().ram_images, 0);
  auto images = known.rig.images(text);
  std::erase_if(images, [](const GivenImage& image) {
    return image.block < BlockIndex(4);
  });
  known.tree.insert(known.scope, text.path(), images);
  const Usable found = known.tree.usable(known.scope, text.path());
  EXPECT_EQ(found.length, Position(399));
  EXPECT_EQ(found.why.from_disk, Position(256));
  EXPECT_EQ(found.why.from_ram, Position(143));
  ASSERT_EQ(found.images[1].size(), 2u); // blocks 5 and 6
  EXPECT_TRUE(found.images[1][0].ram);
  ASSERT_EQ(found.images[0].size(), 7u);
  EXPECT_TRUE(found.images[0][3].disk.has_value());
  EXPECT_NE(found.images[0][3].stored, NodeId(0));
}

TEST(DiskIndex, IsLoadedFromWhatTheTierLists) {
  Known known(full_rules());
  const Text text = text_of(150);
  std::vector<StoredNode> nodes;
  Key128 key = PrefixRig::scope().root();
  for (int64_t block = 0; block < 3; ++block) {
    const BlockText part = PathBlocks(text.path())[block];
    key = chained_key(key, part.tokens);
    nodes.push_back(
        {.id = NodeId(block + 5),
         .scope = ScopeId(1),
         .parent = NodeId(block == 0 ? 0 : block + 4),
         .key = key,
         .tokens = {part.tokens.begin(), part.tokens.end()},
         .marks = {},
         .images = {
             {{0, 0}, {SegmentId(1), Bytes(4096 * block), Bytes(4096)}}}});
  }
  for (const StoredNode& node : nodes) {
    EXPECT_TRUE(known.tree.add_stored(known.scope, node).value());
    EXPECT_TRUE(known.tree.add_stored(known.scope, node).value()); // again
  }
  EXPECT_EQ(known.usable(text), 149);
  // Whose parent is unknown, or who cannot be a child.
  StoredNode orphan = nodes[1];
  orphan.parent = NodeId(99);
  EXPECT_FALSE(known.tree.add_stored(known.scope, orphan).value());
  StoredNode under_tail = nodes[1];
  under_tail.id = NodeId(50);
  under_tail.parent = NodeId(7);
  EXPECT_EQ(
      known.tree.add_stored(known.scope, under_tail).status().code(),
      ErrorCode::kCorrupt);
  StoredNode bad_marks = nodes[0];
  bad_marks.marks = "x";
  EXPECT_EQ(
      known.tree.add_stored(known.scope, bad_marks).status().code(),
      ErrorCode::kCorrupt);
  // Under the key of another path: its images are another's.
  StoredNode other_tokens = nodes[1];
  other_tokens.tokens[3] ^= 1;
  StoredNode other_parent = nodes[1];
  other_parent.parent = NodeId();
  for (const StoredNode& node : {other_tokens, other_parent}) {
    EXPECT_EQ(
        known.tree.add_stored(known.scope, node).status().code(),
        ErrorCode::kCorrupt);
  }
  // Gone from the disk: a miss that says so.
  known.tree.removed(std::vector<NodeId>{NodeId(6)});
  EXPECT_EQ(known.usable(text), 64);
  EXPECT_EQ(known.why(text).gap, Why::Gap::kEvicted);
  known.tree.removed(std::vector<NodeId>{NodeId(7), NodeId(5)});
  EXPECT_EQ(known.tree.stats().nodes, 0);
  EXPECT_EQ(known.why(text).end_evicted->by, EvictedBy::kDisk);
}

TEST(DiskIndex, AnUnreadableImageIsAMissThatSaysSo) {
  Known known(full_rules());
  const Text text = text_of(150);
  known.store(known.put(text));
  known.tree.reclaim(Bytes(1 << 30));
  Usable found = known.tree.usable(known.scope, text.path());
  ASSERT_EQ(found.length, Position(149));
  known.tree.unreadable(found.images[0][1]);
  found.lease = {};
  EXPECT_EQ(known.usable(text), 64);
  EXPECT_EQ(
      known.why(text).line(),
      "reused 64 of 150 tokens (0 from RAM, 64 from SSD): block 1 of layer "
      "group 0 is unreadable on disk");
  // Computed again, it is stored again.
  EXPECT_EQ(known.put(text).fresh.size(), 1u);
  EXPECT_EQ(known.usable(text), 149);
}

TEST(DiskIndex, WhatIsBeingWrittenStaysInRam) {
  Known known(full_rules());
  const Text text = text_of(100);
  WriteBatch batch = known.tree.begin_write(known.put(text).fresh);
  for (NodeToStore& node : batch.nodes) {
    node.images.clear(); // as if the queue had let go
  }
  known.tree.reclaim(Bytes(1 << 30));
  EXPECT_EQ(known.tree.stats().ram_images, 2);
  EXPECT_EQ(known.usable(text), 99);
}

TEST(DiskIndex, AFailedWriteMayBeTriedAgain) {
  Known known(full_rules());
  const Text text = text_of(100);
  const WriteBatch batch = known.tree.begin_write(known.put(text).fresh);
  const auto again = known.tree.not_stored(batch);
  ASSERT_EQ(again.size(), 2u);
  const WriteBatch second = known.tree.begin_write(again);
  known.tree.stored(second, known.disk.store(second));
  EXPECT_EQ(known.tree.stats().disk_images, 2);
  known.tree.check();
}

TEST(DiskIndex, AChildIsNeverStoredWithoutItsParents) {
  Known known({{}, {.window = 2}});
  const Text text = text_of(300);
  auto images = known.rig.images(text);
  // The snapshot at the end alone; blocks before it are places.
  std::erase_if(images, [](const GivenImage& image) {
    return image.slot.group == 0 || image.block < BlockIndex(4);
  });
  const Inserted put = known.tree.insert(known.scope, text.path(), images);
  ASSERT_EQ(put.fresh.size(), 1u);
  const WriteBatch batch = known.tree.begin_write(put.fresh);
  ASSERT_EQ(batch.nodes.size(), 5u);
  EXPECT_EQ(batch.nodes[4].parent_in_batch, 3);
  known.tree.stored(batch, known.disk.store(batch));
  known.tree.check();
}

TEST(DiskIndex, ScopesOfOtherModelsAreKnownAndNotUsable) {
  PrefixTree tree;
  const Scope scope = PrefixRig::scope("other");
  const ScopeHandle stored = tree.open_stored(scope.text()).value();
  EXPECT_EQ(tree.open_stored("junk").status().code(), ErrorCode::kCorrupt);
  const Text text = text_of(64);
  EXPECT_TRUE(tree.add_stored(
                      stored,
                      {.id = NodeId(1),
                       .scope = ScopeId(1),
                       .parent = {},
                       .key = chained_key(scope.root(), text.tokens),
                       .tokens = text.tokens,
                       .marks = {},
                       .images = {{{0, 0}, {SegmentId(1), {}, Bytes(4096)}}}})
                  .value());
  EXPECT_EQ(tree.usable(stored, text_of(90).path()).length, Position(0));
  // Once a model of that signature is there, it is.
  EXPECT_EQ(tree.open(scope, full_rules()), stored);
  EXPECT_EQ(tree.usable(stored, text_of(90).path()).length, Position(64));
}

} // namespace
} // namespace holdfast
