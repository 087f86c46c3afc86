// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where generate keeps state, and what it does where it cannot.

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/kept_folder.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(StateFolder, IsTheUsersOwnUnlessHeSaysOtherwise) {
  const std::vector<std::string> words{
      "generate",
      "-m",
      model_path(),
      "--threads",
      "1",
      "-p",
      kLong,
      "-n",
      "2",
      "--temp",
      "0"};
  const std::string own = DataFolder::path() + "/holdfast";
  fs::remove_all(own);
  const Outcome first = run(words);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("are kept in " + own));
  EXPECT_THAT(first.err, HasSubstr("--state none"));
  const auto mode = fs::status(own).permissions();
  EXPECT_EQ(mode, fs::perms::owner_all);
  const Outcome second = run(words);
  EXPECT_THAT(second.err, testing::Not(HasSubstr("are kept in")));
  EXPECT_THAT(second.err, testing::Not(HasSubstr("(0 reused)")));
  EXPECT_EQ(Folder::objects(run({"state", "ls", "--json"}).out).size(), 1u);
  fs::remove_all(own);
  auto off = words;
  off.insert(off.end(), {"--state", "none"});
  EXPECT_EQ(run(off).code, 0);
  EXPECT_FALSE(fs::exists(own));
}

TEST(StateFolder, ThatCannotBeUsedIsAWarningOrWhereItWasNamedAMistake) {
  const std::string own = DataFolder::path() + "/holdfast";
  fs::create_directories(DataFolder::path());
  fs::remove_all(own);
  std::ofstream(own) << "a file is in the way";
  std::vector<std::string> words{
      "generate", "-m", model_path(), "--threads", "1", "-p", "a", "-n", "2"};
  const Outcome warned = run(words);
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("nothing is kept for later runs"));
  EXPECT_FALSE(warned.out.empty());
  words.insert(words.end(), {"--state", own});
  const Outcome refused = run(words);
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.one_line_of_error()) << refused.err;
  EXPECT_EQ(refused.out, "");
  fs::remove(own);
}

TEST(StateFolder, WritesNoMoreADayThanItIsAllowed) {
  const Folder folder("daily");
  const Outcome outcome = run(with_model(
      {"generate"},
      {"-p",
       kLong,
       "-n",
       "4",
       "--state",
       folder.path(),
       "--daily-bytes",
       "1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("not all state was saved"));
  EXPECT_TRUE(folder.json({"ls"}).empty());
  EXPECT_EQ(
      run(with_model(
              {"generate"},
              {"-p", "a", "--state", folder.path(), "--daily-bytes", "0"}))
          .code,
      2);
}

} // namespace
} // namespace holdfast::test
