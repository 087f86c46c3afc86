// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "apps/holdfast/chat_input.h"

#include <gtest/gtest.h>

namespace holdfast::app {
namespace {

TEST(ChatInput, DropsABlockThatIsInterrupted) {
  int lines = 0;
  const ChatInput input = read_chat_input([&lines](bool goes_on) {
    EXPECT_EQ(goes_on, lines > 0);
    return ++lines < 3 ? Line{.text = "\"\"\"a"}
                       : Line{.end = LineEnd::kInterrupted};
  });
  EXPECT_EQ(input.end, LineEnd::kInterrupted);
  EXPECT_EQ(input.text, "");
}

} // namespace
} // namespace holdfast::app
