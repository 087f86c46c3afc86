// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Images in memory that is not the pool's, and room made before a refusal.

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "holdfast/block/pool.h"
#include "tests/code_of.h"

namespace holdfast {
namespace {

constexpr int64_t kImage = 4096;

std::shared_ptr<const std::byte> pages(int64_t bytes) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kImage, bytes));
  std::fill(memory, memory + bytes, std::byte{7});
  return {memory, [](const std::byte* at) {
            std::free(const_cast<std::byte*>(at));
          }};
}

TEST(ForeignImage, IsASealedBlockOfThePoolThatCountsByItself) {
  BlockPool pool({Bytes(kImage), Bytes(2 * kImage)}, Bytes(kImage));
  auto memory = pages(2 * kImage);
  const std::weak_ptr<const std::byte> alive = memory;
  BlockRef block = pool.adopt(1, std::move(memory));
  EXPECT_TRUE(block.sealed());
  EXPECT_TRUE(pool.owns(block));
  EXPECT_EQ(block.kind(), 1);
  EXPECT_EQ(block.bytes(), Bytes(2 * kImage));
  EXPECT_EQ(block.image()[2 * kImage - 1], std::byte{7});
  EXPECT_EQ(pool.live_bytes(), Bytes(0));
  EXPECT_EQ(pool.mapped_bytes(), Bytes(0));
  EXPECT_EQ(pool.foreign_bytes(), Bytes(2 * kImage));
  EXPECT_EQ(pool.live_blocks(), 1);
  EXPECT_EQ(code_of([&] { block.mutable_image(); }), ErrorCode::kInternal);
  std::thread([last = std::move(block)]() mutable {
    last = BlockRef();
  }).join();
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(pool.foreign_bytes(), Bytes(0));
  EXPECT_EQ(pool.live_blocks(), 0);
}

TEST(ForeignImage, OutlivesItsPool) {
  BlockRef block;
  {
    BlockPool pool({Bytes(kImage)});
    block = pool.adopt(0, pages(kImage));
  }
  EXPECT_EQ(block.image()[0], std::byte{7});
}

TEST(ForeignImage, IsRefusedWithoutMemoryOffAPageOrOfNoKind) {
  BlockPool pool({Bytes(kImage)});
  const auto memory = pages(2 * kImage);
  const std::shared_ptr<const std::byte> off(memory, memory.get() + 64);
  for (const auto& image : {std::shared_ptr<const std::byte>(), off}) {
    EXPECT_EQ(
        code_of([&] { pool.adopt(0, image); }), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(
      code_of([&] { pool.adopt(1, memory); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(pool.foreign_bytes(), Bytes(0));
}

TEST(ForeignImage, MayBeWhatABlockBecameInAnotherKind) {
  BlockPool pool({Bytes(kImage), Bytes(kImage)});
  const BlockRef dense = pool.allocate(0);
  dense.seal();
  {
    const BlockRef stored = pool.adopt(1, pages(kImage));
    pool.remember_successor(dense, stored);
    EXPECT_TRUE(pool.successor(dense, 1) == stored);
  }
  EXPECT_FALSE(pool.successor(dense, 1));
}

// Keeps blocks until it is asked for room.
struct Keeper {
  explicit Keeper(BlockPool& pool) {
    pool.set_reclaimer([this](Bytes lacking) {
      asked.push_back(lacking.get());
      for (Bytes freed; freed < lacking && !kept.empty();) {
        freed += kept.back().bytes();
        kept.pop_back();
      }
    });
  }
  std::vector<BlockRef> kept;
  std::vector<int64_t> asked;
};

TEST(Reclaimer, MakesRoomBeforeAnythingIsRefused) {
  BlockPool pool({Bytes(kImage)}, Bytes(4 * kImage));
  Keeper keeper(pool);
  for (int i = 0; i < 4; ++i) {
    keeper.kept.push_back(pool.allocate(0));
  }
  EXPECT_TRUE(keeper.asked.empty());
  const BlockRef one = pool.allocate(0);
  EXPECT_EQ(keeper.kept.size(), 3u);
  pool.require(Bytes(2 * kImage));
  EXPECT_EQ(keeper.kept.size(), 1u);
  const BlockRef copy = pool.copy(one);
  const BudgetCharge charge = pool.charge(Bytes(2 * kImage));
  EXPECT_TRUE(keeper.kept.empty());
  EXPECT_EQ(keeper.asked, (std::vector<int64_t>{kImage, 2 * kImage, kImage}));
  EXPECT_LE(pool.peak_bytes(), Bytes(4 * kImage));
}

TEST(Reclaimer, ThatFreesTooLittleLeavesTheRefusal) {
  BlockPool pool({Bytes(kImage)}, Bytes(2 * kImage));
  Keeper keeper(pool);
  const BlockRef in_use = pool.allocate(0);
  keeper.kept.push_back(in_use);
  EXPECT_EQ(
      code_of([&] { pool.require(Bytes(2 * kImage)); }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(pool.live_bytes(), Bytes(kImage));
}

TEST(Reclaimer, MayNotAskForRoomItself) {
  BlockPool pool({Bytes(kImage)}, Bytes(kImage));
  const BlockRef block = pool.allocate(0);
  pool.set_reclaimer([&](Bytes) { pool.require(Bytes(kImage)); });
  EXPECT_EQ(
      code_of([&] { pool.require(Bytes(kImage)); }), ErrorCode::kInternal);
  pool.set_reclaimer(nullptr);
  EXPECT_EQ(
      code_of([&] { pool.require(Bytes(kImage)); }), ErrorCode::kOutOfBudget);
}

} // namespace
} // namespace holdfast
