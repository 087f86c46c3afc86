// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the user is told when a folder of kept state is opened, and how much of
// the disk it may take.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/holdfast/state_place.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/manifest.h"
#include "tests/apps/kept_folder.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string manifest_of(const Folder& folder) {
  return folder.path() + "/tier/manifest.db";
}

void flip_byte(const std::string& path, std::streamoff place) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(place);
  const int byte = file.get();
  file.seekp(place);
  file.put(static_cast<char>(byte ^ 0x40));
}

void set_version(const std::string& manifest, int version) {
  Manifest opened(
      posix_file_system(), system_clock(), manifest, Manifest::Check::kSchema);
  opened.database().run(
      ("PRAGMA user_version=" + std::to_string(version)).c_str());
}

std::vector<std::string> actions(const Folder& folder) {
  std::vector<std::string> result;
  const auto stats = folder.json({"stats"});
  for (const Json& finding : stats.at(0)["findings"]) {
    EXPECT_FALSE(finding["reason"].get<std::string>().empty());
    result.push_back(finding["action"]);
  }
  return result;
}

TEST(StateOpening, SaysNothingOfAFolderThatIsAsItShouldBe) {
  const Folder folder("opening_right");
  folder.generate(kLong);
  EXPECT_EQ(folder.state({"ls"}).err, "");
  EXPECT_TRUE(actions(folder).empty());
}

TEST(StateOpening, SaysThatADamagedManifestIsSetAside) {
  const Folder folder("opening_aside");
  folder.generate(kLong);
  flip_byte(manifest_of(folder), 2000);
  const Outcome told = folder.state({"ls"});
  EXPECT_EQ(told.code, 0);
  EXPECT_TRUE(told.one_line_of_error()) << told.err;
  EXPECT_THAT(told.err, HasSubstr("was damaged and is set aside"));
  EXPECT_THAT(told.err, HasSubstr(folder.path() + "/tier/manifest-"));
  // Once; where it lies is told for as long as it is there.
  EXPECT_EQ(folder.state({"ls"}).err, "");
  EXPECT_THAT(actions(folder), testing::Each("counted"));
  EXPECT_FALSE(actions(folder).empty());
}

TEST(StateOpening, SaysWhatWasDropped) {
  const Folder folder("opening_dropped");
  folder.generate(kLong);
  for (const auto& entry : fs::directory_iterator(folder.path() + "/tier")) {
    if (entry.path().extension() == ".segment") {
      fs::remove(entry.path());
    }
  }
  EXPECT_THAT(folder.state({"stats"}).err, HasSubstr("the file is missing"));
}

TEST(StateOpening, SaysThatOthersMayReadTheFolder) {
  const Folder folder("opening_mode");
  folder.generate(kLong);
  fs::permissions(
      folder.path() + "/tier",
      fs::perms::group_read | fs::perms::others_read,
      fs::perm_options::add);
  const Outcome told = folder.state({"ls"});
  EXPECT_THAT(
      told.err, HasSubstr(folder.path() + "/tier: others may read the folder"));
  EXPECT_THAT(actions(folder), testing::ElementsAre("noted"));
}

TEST(StateOpening, RefusesAFolderOfAnotherVersionAndSaysHowToGoOn) {
  const Folder folder("opening_version");
  folder.generate(kLong);
  set_version(manifest_of(folder), 3);
  const std::vector<std::string> at{"--state", folder.path()};
  for (std::vector<std::string> words :
       {std::vector<std::string>{"state", "ls"},
        {"state", "prune"},
        {"state", "forget", "--all"},
        with_model({"generate"}, {"-p", "a", "-n", "1", "--state"})}) {
    words.insert(words.end(), at.begin() + (words.back() == at[0]), at.end());
    const Outcome refused = run(words);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_TRUE(refused.one_line_of_error()) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("another version of holdfast"));
    EXPECT_THAT(refused.err, HasSubstr("remove " + folder.path() + "/tier"));
  }
  EXPECT_TRUE(fs::exists(manifest_of(folder)));
  for (const auto& entry : fs::directory_iterator(folder.path() + "/tier")) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".aside")));
  }
}

TEST(StateOpening, TheUsersOwnFolderOfAnotherVersionIsAWarning) {
  const std::string own = DataFolder::path() + "/holdfast";
  fs::remove_all(own);
  const std::vector<std::string> words{
      "generate", "-m", model_path(), "--threads", "1", "-p", "a", "-n", "1"};
  ASSERT_EQ(run(words).code, 0);
  set_version(own + "/tier/manifest.db", 3);
  const Outcome warned = run(words);
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("another version of holdfast"));
  EXPECT_THAT(warned.err, HasSubstr("nothing is kept for later runs"));
  fs::remove_all(own);
}

TEST(StatePlace, TheShareOfTheDiskDoesNotShrinkAsTheFolderFills) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_EQ(app::disk_share(Bytes(50 * kGiB), Bytes(0)), Bytes(5 * kGiB));
  EXPECT_EQ(
      app::disk_share(Bytes(46 * kGiB), Bytes(4 * kGiB)), Bytes(5 * kGiB));
  EXPECT_EQ(app::disk_share(Bytes(500 * kGiB), Bytes(0)), Bytes(20 * kGiB));
  EXPECT_EQ(app::disk_share(Bytes(0), Bytes(4 * kGiB)), Bytes(4 * kGiB));
}

TEST(StatePlace, WhatIsKeptCountsAsTheTierCountsIt) {
  const Folder folder("place_kept");
  EXPECT_EQ(app::kept_bytes(folder.path()), Bytes(0));
  folder.generate(kLong);
  const Json stats = folder.json({"stats"}).at(0);
  const int64_t kept = app::kept_bytes(folder.path()).get();
  EXPECT_GE(kept, stats["live"].get<int64_t>());
  EXPECT_NEAR(
      static_cast<double>(kept), stats["used"].get<double>(), 16 * 4096);
}

} // namespace
} // namespace holdfast::test
