// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"
#include "holdfast/kernels/cpu/elementwise.h"

namespace holdfast::cpu {
namespace {

constexpr int64_t kRows = 37;
constexpr int64_t kWidth = 64;

float value_at(int64_t row, int64_t i) {
  return static_cast<float>(row * 1000 + i) * 0.37f;
}

Weight table_of(WeightFormat::Kind kind, Executor& executor) {
  return Weight::pack_values(
      kind,
      kRows,
      kWidth,
      [](int64_t row, float* values) {
        for (int64_t i = 0; i < kWidth; ++i) {
          values[i] = value_at(row, i);
        }
      },
      executor);
}

TEST(Embed, CopiesScaledRowsInTheOrderOfTheIds) {
  Executor executor(2);
  const Weight table = table_of(WeightFormat::Kind::kF32, executor);
  for (const int64_t count : {0, 1, 5, 100}) {
    std::vector<int32_t> ids;
    for (int64_t t = 0; t < count; ++t) {
      ids.push_back(static_cast<int32_t>(t * 7 % kRows));
    }
    std::vector<float> y(count * kWidth, NAN);
    embed(table, ids, 25.25f, y.data(), executor);
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t i = 0; i < kWidth; ++i) {
        ASSERT_EQ(y[t * kWidth + i], value_at(ids[t], i) * 25.25f);
      }
    }
  }
}

TEST(Embed, GivesWhatTheTableHolds) {
  Executor executor(1);
  const Weight table = table_of(WeightFormat::Kind::kBf16, executor);
  const std::vector<int32_t> ids{36, 0, 36};
  std::vector<float> y(ids.size() * kWidth);
  embed(table, ids, 1.0f, y.data(), executor);
  for (size_t t = 0; t < ids.size(); ++t) {
    std::vector<float> row(kWidth);
    table.read_row(ids[t], row.data());
    for (int64_t i = 0; i < kWidth; ++i) {
      ASSERT_EQ(y[t * kWidth + i], row[i]);
    }
  }
}

TEST(Embed, RefusesIdsOutsideTheTableBeforeItWrites) {
  Executor executor(1);
  const Weight table = table_of(WeightFormat::Kind::kF32, executor);
  for (const int32_t bad : {-1, 37, INT32_MAX, INT32_MIN}) {
    const std::vector<int32_t> ids{0, 1, bad};
    std::vector<float> y(ids.size() * kWidth, NAN);
    try {
      embed(table, ids, 1.0f, y.data(), executor);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(
          std::string(error.what()).find(std::to_string(bad)),
          std::string::npos);
    }
    for (const float value : y) {
      ASSERT_TRUE(std::isnan(value));
    }
  }
}

} // namespace
} // namespace holdfast::cpu
