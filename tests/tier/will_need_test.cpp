// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a row needs of the disk is asked for at once, and no more than that.

#include <algorithm>

#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

/// The extents of a slot, in the order of the nodes.
std::vector<Extent>
extents_of(const Stored& stored, const StoreBatch& batch, ImageSlot slot) {
  std::vector<Extent> result;
  for (size_t i = 0; i < batch.nodes.size(); ++i) {
    for (size_t j = 0; j < batch.nodes[i].images.size(); ++j) {
      if (batch.nodes[i].images[j].slot == slot) {
        result.push_back(stored.images[i][j]);
      }
    }
  }
  return result;
}

TEST(WillNeedOfATier, AStoreLaysASlotsImagesNextToEachOther) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch batch = path_batch(scope, chat_tokens(1, 300), rig.images);
  const Stored stored = tier->store(batch).value();
  for (const ImageSlot slot : {kFull, kSliding}) {
    const auto extents = extents_of(stored, batch, slot);
    ASSERT_EQ(extents.size(), 5u);
    for (size_t i = 1; i < extents.size(); ++i) {
      EXPECT_EQ(
          extents[i].offset, extents[i - 1].offset + extents[i - 1].bytes);
    }
  }
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 300)), 300);
}

TEST(WillNeedOfATier, AsksOnceForWhatLiesTogetherAndForNothingElse) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch first = path_batch(scope, chat_tokens(1, 300), rig.images);
  const StoreBatch second = path_batch(scope, chat_tokens(2, 128), rig.images);
  const Stored one = tier->store(first).value();
  const Stored two = tier->store(second).value();
  std::vector<Extent> needed = extents_of(one, first, kFull);
  // The end of a window, and another segment.
  const auto window = extents_of(one, first, kSliding);
  needed.insert(needed.end(), window.end() - 2, window.end());
  const auto other = extents_of(two, second, kFull);
  needed.insert(needed.end(), other.begin(), other.end());
  std::reverse(needed.begin(), needed.end()); // any order
  const FileCounts before = rig.memory->counts();
  const auto held = tier->will_need(needed);
  const FileCounts after = rig.memory->counts();
  EXPECT_EQ(after.needs - before.needs, 3);
  EXPECT_EQ(
      after.bytes_needed - before.bytes_needed,
      Bytes(5 * 4096 + 2 * 8192 + 2 * 4096));
  EXPECT_EQ(after.maps - before.maps, 2);
  for (const Extent& extent : needed) {
    EXPECT_TRUE(tier->map(extent).ok());
  }
  // The segments were mapped already.
  EXPECT_EQ(rig.memory->counts().maps, after.maps);
}

TEST(WillNeedOfATier, WhatIsGoneIsSaidByMapAlone) {
  TierRig rig;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch batch = path_batch(scope, chat_tokens(1, 100), rig.images);
  const Stored stored = tier->store(batch).value();
  std::vector<Extent> extents = extents_of(stored, batch, kFull);
  extents.push_back({SegmentId(12345), Bytes(4096), Bytes(4096)});
  extents.push_back({extents[0].segment, Bytes(1 << 30), Bytes(4096)});
  const auto held = tier->will_need(extents);
  EXPECT_TRUE(tier->map(extents[0]).ok());
  EXPECT_EQ(tier->map(extents[2]).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(tier->map(extents[3]).status().code(), ErrorCode::kNotFound);
}

TEST(WillNeedOfATier, AHintThatFailsDoesNotFailARestore) {
  TierRig rig;
  const auto faulty = std::make_shared<FaultyFileSystem>(rig.memory);
  rig.options.files = faulty;
  const auto tier = rig.open();
  const ScopeId scope = tier->scope(kScope).value();
  const StoreBatch batch = path_batch(scope, chat_tokens(1, 100), rig.images);
  const Stored stored = tier->store(batch).value();
  const auto extents = extents_of(stored, batch, kSliding);
  FileFault fault;
  fault.once = false;
  fault.only = FileCall::kWillNeed;
  faulty->fail(fault);
  const auto held = tier->will_need(extents);
  EXPECT_GT(faulty->failed(), 0);
  for (const Extent& extent : extents) {
    EXPECT_TRUE(tier->map(extent).ok());
  }
}

} // namespace
} // namespace holdfast::test
