// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/quoted_text.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(QuotedText, IsOneLineOfPrintableBytes) {
  EXPECT_EQ(escaped_text("a b~"), "a b~");
  EXPECT_EQ(escaped_text("a\nb\x7f\xc3\xa9"), "a\\x0ab\\x7f\\xc3\\xa9");
  EXPECT_EQ(quoted_text("a"), "\"a\"");
}

TEST(QuotedText, ShowsTheBeginOfALongText) {
  EXPECT_EQ(escaped_text(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(escaped_text(std::string(65, 'a')), std::string(64, 'a') + "...");
  EXPECT_EQ(quoted_text("abcd", 3), "\"abc...\"");
}

} // namespace
} // namespace holdfast
