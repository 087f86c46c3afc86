// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random chats of 16 clients, kept, exported and forgotten, with a RAM budget
// of a tenth of their data and a disk budget of a half: answers are those of
// cold runs, sums are right, nothing grows. The long form takes an hour: `./dev
// check`, or soak_test
// --gtest_also_run_disabled_tests --gtest_filter='*DISABLED*' --seconds=N

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/env/temp_folder.h"
#include "tests/soak/soak_chats.h"

namespace holdfast::test {
namespace {

int64_t long_seconds = 3600;

void soak(const SoakChoice& choice) {
  const TempFolder folder;
  SoakChats chats(choice, folder.path() + "/state");
  chats.play();
  const SoakCount& count = chats.count();
  EXPECT_EQ(count.differing, 0);
  EXPECT_EQ(count.wrong_objects, 0);
  EXPECT_GT(count.compared, 0);
  EXPECT_GT(count.reused_tokens, 0);
  EXPECT_LT(count.reused_tokens, count.asked_tokens);
  EXPECT_GT(count.objects, 0);
  EXPECT_EQ(count.wrong_kept, 0);
  EXPECT_GT(count.kept, 0);
}

TEST(Soak, RandomChatsStayRightAndNothingGrows) {
  soak({.seconds = 6, .rounds = 3});
}

TEST(Soak, DISABLED_LongRandomChatsStayRightAndNothingGrows) {
  soak({.seconds = long_seconds, .rounds = 12, .seed = 2});
}

} // namespace
} // namespace holdfast::test

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--seconds=")) {
      holdfast::test::long_seconds = std::atoll(word.c_str() + 10);
    } else {
      std::cerr << "expected --seconds=N, got " << word << "\n";
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
