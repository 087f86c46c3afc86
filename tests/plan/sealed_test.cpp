// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Rows that keep what becomes a full block in them, for a prefix index.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "phased.h"

namespace holdfast {
namespace {

using Place = std::array<int64_t, 3>; // group, phase, index

std::vector<Place> places(const std::vector<SealedBlock>& sealed) {
  std::vector<Place> result;
  for (const SealedBlock& of : sealed) {
    result.push_back({of.group, of.phase, of.index.get()});
    EXPECT_TRUE(of.block.sealed());
  }
  std::ranges::sort(result);
  return result;
}

void expect_stamps(const std::vector<SealedBlock>& sealed, uint64_t stamp) {
  for (const SealedBlock& of : sealed) {
    for (int64_t slot = 0; slot < kBlockTokens; ++slot) {
      const auto position =
          static_cast<uint64_t>(of.index.get() * kBlockTokens + slot);
      ASSERT_EQ(stamp_in(of.block.image(), slot), stamp + position);
    }
  }
}

// A chunk longer than the window seals and releases blocks in one commit.
TEST(SealedBlocks, AreKeptAlsoWhereTheWindowReleasesThemAtOnce) {
  Stamped rows(std::vector<GroupRule>{{}, {.window = 8}});
  const RowId row = rows.chains.add();
  rows.chains.keep_sealed(row, true);
  rows.feed(row, 300, 1000);
  const auto sealed = rows.chains.take_sealed(row);
  EXPECT_EQ(
      places(sealed),
      (std::vector<Place>{
          {0, 0, 0},
          {0, 0, 1},
          {0, 0, 2},
          {0, 0, 3},
          {1, 0, 0},
          {1, 0, 1},
          {1, 0, 2},
          {1, 0, 3}}));
  expect_stamps(sealed, 1000);
  EXPECT_TRUE(rows.chains.take_sealed(row).empty());
  rows.feed(row, 20, 1000);
  EXPECT_EQ(
      places(rows.chains.take_sealed(row)),
      (std::vector<Place>{{0, 0, 4}, {1, 0, 4}}));
}

TEST(SealedBlocks, CountWhileTheyWaitAndCostNothingWhereNobodyKeeps) {
  Stamped rows(std::vector<GroupRule>{{.window = 8}});
  const RowId row = rows.chains.add();
  rows.feed(row, 640, 1);
  const Bytes alone = rows.pool.live_bytes();
  EXPECT_TRUE(rows.chains.take_sealed(row).empty());
  rows.chains.keep_sealed(row, true);
  rows.feed(row, 640, 1);
  EXPECT_EQ(rows.pool.live_bytes(), alone + Bytes(9 * kStampedImage));
  rows.chains.keep_sealed(row, false);
  EXPECT_EQ(rows.pool.live_bytes(), alone);
  rows.chains.keep_sealed(row, true);
  rows.feed(row, 640, 1);
  rows.chains.remove(row);
  EXPECT_EQ(rows.pool.live_bytes(), Bytes(0));
}

TEST(SealedBlocks, ComeInBothPhasesOfAConversion) {
  Phased rows(150);
  const RowId row = rows.chains.add();
  rows.chains.keep_sealed(row, true);
  rows.feed(row, 150, 1000);
  const std::vector<Place> dense{
      {0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}, {2, 0, 0}, {2, 0, 1}};
  auto sealed = rows.chains.take_sealed(row);
  EXPECT_EQ(places(sealed), dense);
  expect_stamps(sealed, 1000);
  rows.feed(row, 50, 1000);
  sealed = rows.chains.take_sealed(row);
  EXPECT_EQ(
      places(sealed),
      (std::vector<Place>{
          {0, 1, 0},
          {0, 1, 1},
          {0, 1, 2}, // converted, then filled
          {1, 0, 2},
          {2, 1, 1}, // the window has left block 0
          {2, 1, 2}}));
  expect_stamps(sealed, 1000);
}

TEST(SealedBlocks, BelongToARowAndNotToItsCopies) {
  Stamped rows(std::vector<GroupRule>{{}});
  const RowId row = rows.chains.add();
  rows.chains.keep_sealed(row, true);
  rows.feed(row, 130, 1000);
  const RowId fork = rows.chains.fork(row);
  rows.feed(fork, 130, 1000);
  EXPECT_TRUE(rows.chains.take_sealed(fork).empty());
  Chains other(rows.pool, {{}});
  const RowId moved = other.adopt(rows.chains, {&row, 1}).front();
  Transaction step = other.begin(std::vector<RowAppend>{{moved, 70}});
  stamp_step(*step.plan(), 1000);
  step.commit_all();
  const auto sealed = other.take_sealed(moved);
  EXPECT_EQ(
      places(sealed), (std::vector<Place>{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}}));
  expect_stamps(sealed, 1000);
}

TEST(SealedBlocks, BeyondATrimAreForgottenAndComeAnew) {
  Stamped rows(std::vector<GroupRule>{{}});
  const RowId row = rows.chains.add();
  rows.chains.keep_sealed(row, true);
  rows.feed(row, 200, 1000);
  rows.chains.trim(row, Position(100));
  rows.feed(row, 100, 5000);
  const auto sealed = rows.chains.take_sealed(row);
  EXPECT_EQ(
      places(sealed), (std::vector<Place>{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}}));
  EXPECT_EQ(stamp_in(sealed[1].block.image(), 99), 1099u);
  EXPECT_EQ(stamp_in(sealed[1].block.image(), 100), 5100u);
}

TEST(SealedBlocks, AreOnlyOfCommittedPositions) {
  Stamped rows(std::vector<GroupRule>{{}});
  const RowId row = rows.chains.add();
  rows.chains.keep_sealed(row, true);
  Transaction step = rows.chains.begin(std::vector<RowAppend>{{row, 150}});
  stamp_step(*step.plan(), 1000);
  EXPECT_EQ(
      code_of([&] { rows.chains.take_sealed(row); }),
      ErrorCode::kInvalidArgument);
  step.commit(std::vector<int64_t>{70});
  EXPECT_EQ(
      places(rows.chains.take_sealed(row)), (std::vector<Place>{{0, 0, 0}}));
}

} // namespace
} // namespace holdfast
