// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/pages.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"

namespace holdfast {
namespace {

TEST(Pages, AreZeroAlignedAndWritableToTheLastByte) {
  for (const int64_t bytes :
       {1, 63, 64, 65, 4096, (2 << 20) - 1, 2 << 20, (5 << 20) + 7}) {
    const auto pages = allocate_pages(bytes);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(pages.get()) % 64, 0u) << bytes;
    ASSERT_TRUE(std::all_of(pages.get(), pages.get() + bytes, [](std::byte b) {
      return b == std::byte{0};
    })) << bytes;
    std::memset(pages.get(), 0xff, bytes);
  }
}

TEST(Pages, PiecesAreZeroAndDoNotOverlap) {
  std::vector<std::pair<std::shared_ptr<std::byte>, int64_t>> pieces;
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t bytes = 1 + i * 16411 + (i % 20 == 0 ? int64_t{9} << 20 : 0);
    pieces.emplace_back(allocate_piece(bytes), bytes);
    const auto& piece = pieces.back().first;
    ASSERT_EQ(reinterpret_cast<uintptr_t>(piece.get()) % 64, 0u);
    ASSERT_TRUE(std::all_of(piece.get(), piece.get() + bytes, [](std::byte b) {
      return b == std::byte{0};
    })) << bytes;
    std::memset(piece.get(), static_cast<int>(i + 1), bytes);
    if (i % 7 == 3) {
      pieces.erase(pieces.begin());
    }
  }
  for (const auto& [piece, bytes] : pieces) {
    ASSERT_TRUE(std::all_of(piece.get(), piece.get() + bytes, [&](std::byte b) {
      return b == piece.get()[0];
    })) << bytes;
  }
}

TEST(Pages, RefuseNothingAndMoreThanThereIs) {
  EXPECT_THROW(allocate_pages(0), Error);
  EXPECT_THROW(allocate_pages(-1), Error);
  for (const int64_t bytes : {int64_t{1} << 60, INT64_MAX}) {
    try {
      allocate_pages(bytes);
      ADD_FAILURE() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget);
    }
  }
}

} // namespace
} // namespace holdfast
