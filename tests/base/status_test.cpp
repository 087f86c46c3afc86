// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/status.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "holdfast/base/check.h"
#include "holdfast/base/strong.h"

namespace holdfast {
namespace {

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::kOk, "nothing was thrown");
}

TEST(Status, IsOkUnlessToldOtherwise) {
  EXPECT_TRUE(Status().ok());
  EXPECT_NO_THROW(Status().check());
  const Status status(ErrorCode::kIo, "disk is gone");
  EXPECT_FALSE(status.ok());
  const Error error = error_of([&] { status.check(); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_STREQ(error.what(), "disk is gone");
}

TEST(Status, EveryCodeHasItsOwnName) {
  std::string seen = ",";
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const std::string text = name(static_cast<ErrorCode>(code));
    EXPECT_EQ(seen.find("," + text + ","), std::string::npos) << text;
    seen += text + ",";
  }
  EXPECT_STREQ(name(static_cast<ErrorCode>(99)), "unknown");
}

TEST(Result, HoldsAValueThatMovesOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(*result.value(), 7);
  const std::unique_ptr<int> out = std::move(result).value();
  EXPECT_EQ(*out, 7);
}

TEST(Result, ThrowsItsStatusWhereThereIsNoValue) {
  Result<int> result(Status(ErrorCode::kNotFound, "no such file"));
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), ErrorCode::kNotFound);
  const Error error = error_of([&] { (void)result.value(); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_STREQ(error.what(), "no such file");
}

TEST(Result, MadeOfAnOkStatusIsAnInternalError) {
  const Result<int> result{Status()};
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), ErrorCode::kInternal);
  EXPECT_EQ(
      error_of([&] { (void)result.value(); }).code(), ErrorCode::kInternal);
}

TEST(Check, ExpectBlamesTheCallerAndEnsureBlamesUs) {
  EXPECT_NO_THROW(expect(true, "unused"));
  EXPECT_NO_THROW(ensure(true, "unused"));
  EXPECT_EQ(
      error_of([] { expect(false, "[x] expected 1, got 2"); }).code(),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      error_of([] { ensure(false, "broken"); }).code(), ErrorCode::kInternal);
  const Error error =
      error_of([] { expect(false, "too much", ErrorCode::kOutOfBudget); });
  EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget);
  EXPECT_STREQ(error.what(), "too much");
}

TEST(Strong, AddsAndComparesOnlyItsOwnKind) {
  static_assert(!std::is_convertible_v<int, Position>);
  static_assert(!std::is_convertible_v<Position, BlockIndex>);
  Position p(5);
  p += Position(3);
  EXPECT_EQ(p, Position(8));
  p -= Position(10);
  EXPECT_EQ(p.get(), -2);
  EXPECT_LT(p, Position(0));
  EXPECT_EQ((++p).get(), -1);
  EXPECT_EQ(Bytes(7) - Bytes(2) + Bytes(1), Bytes(6));
  EXPECT_EQ(Bytes().get(), 0);
}

} // namespace
} // namespace holdfast
