// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/pages.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

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
