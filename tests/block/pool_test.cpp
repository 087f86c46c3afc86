// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/block/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "tests/code_of.h"

namespace holdfast {
namespace {

constexpr int64_t kSmall = 4096;
constexpr int64_t kMiddle = 983040; // two a slab, not a power of two
constexpr int64_t kLarge = 3 << 20; // more than a huge page

std::vector<Bytes> kinds() {
  return {Bytes(kSmall), Bytes(kMiddle), Bytes(kLarge)};
}

bool is_zero(const BlockRef& block) {
  const std::span bytes(
      block.image(), static_cast<size_t>(block.bytes().get()));
  return std::ranges::all_of(
      bytes, [](std::byte b) { return b == std::byte{}; });
}

void fill(const BlockRef& block, int value) {
  std::memset(
      block.mutable_image(), value, static_cast<size_t>(block.bytes().get()));
}

TEST(BlockPool, HandsOutAlignedZeroedImagesOfTheirKind) {
  BlockPool pool(kinds());
  for (int64_t kind = 0; kind < pool.kinds(); ++kind) {
    const BlockRef block = pool.allocate(kind);
    EXPECT_EQ(block.kind(), kind);
    EXPECT_EQ(block.bytes(), pool.image_bytes(kind));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.image()) % 4096, 0u);
    EXPECT_TRUE(is_zero(block));
    EXPECT_FALSE(block.sealed());
  }
}

TEST(BlockPool, ZeroesAnImageAgainWhenItIsReused) {
  BlockPool pool(kinds());
  const std::byte* before = nullptr;
  {
    const BlockRef block = pool.allocate(1);
    fill(block, 0xff);
    before = block.image();
  }
  const BlockRef block = pool.allocate(1);
  EXPECT_EQ(block.image(), before); // otherwise this test shows nothing
  EXPECT_TRUE(is_zero(block));
}

TEST(BlockPool, NeverGivesTwoLiveBlocksOverlappingImages) {
  BlockPool pool(kinds());
  std::mt19937 random(7);
  std::vector<std::pair<BlockRef, int>> blocks;
  for (int i = 0; i < 400; ++i) {
    if (blocks.size() > 20 || (!blocks.empty() && random() % 3 == 0)) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      blocks.pop_back();
    } else {
      blocks.emplace_back(pool.allocate(random() % 2), i % 251 + 1);
      fill(blocks.back().first, blocks.back().second);
    }
    for (const auto& [block, value] : blocks) {
      EXPECT_EQ(block.image()[0], std::byte(value));
      EXPECT_EQ(block.image()[block.bytes().get() - 1], std::byte(value));
    }
  }
}

TEST(BlockPool, CountsTheWholeImagesOfLiveBlocksAndNothingElse) {
  BlockPool pool(kinds());
  {
    const BlockRef a = pool.allocate(0);
    const BlockRef b = pool.allocate(1);
    const BlockRef again = a; // NOLINT: shares the block
    EXPECT_EQ(pool.live_bytes(), Bytes(kSmall + kMiddle));
    EXPECT_EQ(pool.live_blocks(), 2);
  }
  EXPECT_EQ(pool.live_bytes(), Bytes(0));
  EXPECT_EQ(pool.live_blocks(), 0);
  EXPECT_EQ(pool.peak_bytes(), Bytes(kSmall + kMiddle));
}

TEST(BlockPool, GivesDrainedSlabsBackSaveOneAKind) {
  BlockPool pool(kinds());
  const Bytes empty = pool.mapped_bytes();
  EXPECT_EQ(empty, Bytes(0));
  std::vector<BlockRef> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(pool.allocate(2));
  }
  EXPECT_EQ(pool.mapped_bytes(), Bytes(20 * kLarge));
  blocks.clear();
  EXPECT_EQ(pool.mapped_bytes(), Bytes(kLarge));
  for (int i = 0; i < 2; ++i) { // the one kept serves and is kept again
    pool.allocate(2);
    EXPECT_EQ(pool.mapped_bytes(), Bytes(kLarge));
  }
}

TEST(BlockPool, PrefersTheOldestSlabSoThatYoungOnesDrain) {
  BlockPool pool({Bytes(1 << 20)}); // two a slab
  std::vector<BlockRef> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(pool.allocate(0));
  }
  const std::byte* oldest = blocks[0].image();
  blocks[7] = BlockRef(); // the youngest has room first
  blocks[0] = BlockRef();
  blocks[0] = pool.allocate(0);
  EXPECT_EQ(blocks[0].image(), oldest);
}

// B54: the check comes before the allocation, also for a single large entry.
TEST(BlockPool, RefusesWhatExceedsTheBudgetBeforeAnythingChanges) {
  BlockPool pool(kinds(), Bytes(10 << 20));
  const BlockRef first = pool.allocate(2);
  const BlockRef second = pool.allocate(2);
  const BlockRef third = pool.allocate(2);
  const Bytes mapped = pool.mapped_bytes();
  EXPECT_EQ(code_of([&] { pool.allocate(2); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(code_of([&] { pool.copy(first); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(pool.live_bytes(), Bytes(3 * kLarge));
  EXPECT_EQ(pool.peak_bytes(), Bytes(3 * kLarge));
  EXPECT_EQ(pool.live_blocks(), 3);
  EXPECT_EQ(pool.mapped_bytes(), mapped);
  EXPECT_NO_THROW(pool.allocate(1)); // the rest of the budget still serves
}

TEST(BlockPool, RefusesAnEntryThatAloneIsOverTheBudget) {
  BlockPool pool({Bytes(12 << 20)}, Bytes(10 << 20));
  EXPECT_EQ(code_of([&] { pool.allocate(0); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(pool.peak_bytes(), Bytes(0));
  EXPECT_EQ(pool.mapped_bytes(), Bytes(0));
}

TEST(BlockPool, ServesExactlyUpToTheBudget) {
  BlockPool pool({Bytes(kSmall)}, Bytes(3 * kSmall));
  std::vector<BlockRef> blocks;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(pool.allocate(0));
  }
  EXPECT_EQ(code_of([&] { pool.require(Bytes(1)); }), ErrorCode::kOutOfBudget);
  blocks.pop_back();
  EXPECT_NO_THROW(pool.require(Bytes(kSmall)));
}

TEST(BlockPool, RefusesKindsThatItDoesNotHave) {
  BlockPool pool(kinds());
  EXPECT_EQ(code_of([&] { pool.allocate(3); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { pool.allocate(-1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([] { BlockPool({Bytes(4097)}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([] { BlockPool({}); }), ErrorCode::kInvalidArgument);
}

TEST(Block, RefusesWritesOnceSealed) {
  BlockPool pool(kinds());
  const BlockRef block = pool.allocate(0);
  fill(block, 3);
  block.seal();
  EXPECT_EQ(code_of([&] { block.mutable_image(); }), ErrorCode::kInternal);
  EXPECT_EQ(block.image()[17], std::byte(3));
}

TEST(Block, RefusesWritesWhileShared) {
  BlockPool pool(kinds());
  const BlockRef block = pool.allocate(0);
  {
    const BlockRef other = block; // NOLINT: shares the block
    EXPECT_TRUE(block.shared());
    EXPECT_EQ(code_of([&] { block.mutable_image(); }), ErrorCode::kInternal);
  }
  EXPECT_FALSE(block.shared());
  EXPECT_NO_THROW(block.mutable_image());
}

TEST(Block, CopiesIntoAnOpenBlockOfItsOwn) {
  BlockPool pool(kinds());
  const BlockRef block = pool.allocate(0);
  fill(block, 5);
  block.seal();
  const BlockRef copy = pool.copy(block);
  EXPECT_FALSE(copy.sealed());
  EXPECT_FALSE(copy == block);
  EXPECT_EQ(std::memcmp(copy.image(), block.image(), kSmall), 0);
  fill(copy, 6);
  EXPECT_EQ(block.image()[0], std::byte(5));
}

TEST(Block, OutlivesItsPool) {
  BlockRef block;
  {
    BlockPool pool(kinds());
    block = pool.allocate(1);
    fill(block, 9);
  }
  EXPECT_EQ(block.image()[kMiddle - 1], std::byte(9));
}

TEST(Block, SurvivesAssignmentToItself) {
  BlockPool pool(kinds());
  BlockRef block = pool.allocate(0);
  const BlockRef& same = block;
  block = same;
  EXPECT_EQ(pool.live_blocks(), 1);
  EXPECT_FALSE(block.shared());
}

TEST(Block, MayBeReleasedOnAnyThread) {
  BlockPool pool({Bytes(kSmall)});
  std::vector<BlockRef> blocks;
  for (int i = 0; i < 2000; ++i) {
    blocks.push_back(pool.allocate(0));
  }
  std::vector<std::thread> threads;
  for (size_t part = 0; part < 4; ++part) {
    // Each block is shared by two of the threads.
    std::vector<BlockRef> mine;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i % 4 == part || (i + 1) % 4 == part) {
        mine.push_back(blocks[i]);
      }
    }
    threads.emplace_back([mine = std::move(mine)]() mutable { mine.clear(); });
  }
  blocks.clear();
  for (int i = 0; i < 200; ++i) {
    pool.allocate(0);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(pool.live_bytes(), Bytes(0));
  EXPECT_EQ(pool.live_blocks(), 0);
}

TEST(BlockPool, RemembersWhatABlockBecameWhileBothLive) {
  BlockPool pool(kinds());
  BlockRef dense = pool.allocate(1);
  BlockRef encoded = pool.allocate(0);
  dense.seal();
  encoded.seal();
  EXPECT_FALSE(pool.successor(dense, 0));
  pool.remember_successor(dense, encoded);
  EXPECT_TRUE(pool.successor(dense, 0) == encoded);
  EXPECT_FALSE(pool.successor(dense, 2)); // of another kind
  EXPECT_FALSE(encoded.shared()); // neither is kept alive
  encoded = BlockRef();
  EXPECT_EQ(pool.live_blocks(), 1);
  EXPECT_FALSE(pool.successor(dense, 0));
  BlockRef again = pool.allocate(0);
  again.seal();
  pool.remember_successor(dense, again);
  dense = BlockRef();
  BlockRef other = pool.allocate(1); // the same image, another block
  other.seal();
  EXPECT_FALSE(pool.successor(other, 0));
}

TEST(BlockPool, HandsASuccessorOutWhileOthersDropIt) {
  BlockPool pool(kinds());
  const BlockRef dense = pool.allocate(1);
  dense.seal();
  for (int round = 0; round < 2000; ++round) {
    BlockRef encoded = pool.allocate(0);
    encoded.seal();
    pool.remember_successor(dense, encoded);
    std::thread drops(
        [moved = std::move(encoded)]() mutable { moved = BlockRef(); });
    const BlockRef found = pool.successor(dense, 0);
    drops.join();
    ASSERT_EQ(pool.live_blocks(), found ? 2 : 1);
  }
}

TEST(BlockPool, CountsChargesInItsBudgetUntilTheyGo) {
  BlockPool pool(kinds(), Bytes(2 * kSmall));
  {
    BudgetCharge charge = pool.charge(Bytes(kSmall + 1));
    EXPECT_EQ(pool.live_bytes(), Bytes(kSmall + 1));
    EXPECT_EQ(code_of([&] { pool.allocate(0); }), ErrorCode::kOutOfBudget);
    EXPECT_EQ(
        code_of([&] { pool.charge(Bytes(kSmall)); }), ErrorCode::kOutOfBudget);
    const BudgetCharge moved = std::move(charge);
    EXPECT_EQ(pool.live_bytes(), Bytes(kSmall + 1));
  }
  EXPECT_EQ(pool.live_bytes(), Bytes(0));
  EXPECT_EQ(pool.peak_bytes(), Bytes(kSmall + 1));
  pool.allocate(0);
}

TEST(BlockPool, CountsWhatItEverHandedOutAndCopied) {
  BlockPool pool(kinds());
  const BlockRef block = pool.allocate(0);
  pool.allocate(1);
  EXPECT_EQ(pool.allocated_bytes(), Bytes(kSmall + kMiddle));
  EXPECT_EQ(pool.copied_bytes(), Bytes(0));
  pool.copy(block);
  EXPECT_EQ(pool.allocated_bytes(), Bytes(2 * kSmall + kMiddle));
  EXPECT_EQ(pool.copied_bytes(), Bytes(kSmall));
}

} // namespace
} // namespace holdfast
