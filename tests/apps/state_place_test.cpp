// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The folder that state is kept in, over a file system that loses power; how
// much of the disk and of memory it takes where nobody says.

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include "apps/holdfast/state_folder.h"
#include "apps/holdfast/state_place.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/tier/disk_tier.h"
#include "tests/env/temp_folder.h"

namespace holdfast::test {
namespace {

using app::make_state_folder;
using app::tier_folder;

Result<std::unique_ptr<DiskTier>>
open_at(std::shared_ptr<FileSystem> files, const std::string& folder) {
  return DiskTier::open(
      {.folder = tier_folder(folder),
       .files = std::move(files),
       .clock = std::make_shared<ManualClock>()});
}

// What a store acknowledged is found again only where all names above it are.
TEST(StatePlace, ALossOfPowerDoesNotTakeTheFoldersAboveWhatIsDurable) {
  for (const std::string folder : {"/kept", "/home/.local/share/kept"}) {
    SCOPED_TRACE(folder);
    const auto memory = MemoryFileSystem::make();
    ASSERT_TRUE(make_state_folder(*memory, folder).ok());
    ASSERT_TRUE(open_at(memory, folder).value()->scope({"a"}).ok());
    const auto after = memory->power_loss({});
    ASSERT_TRUE(after->facts(tier_folder(folder)).ok());
    const auto tier = open_at(after, folder).value();
    EXPECT_EQ(tier->stats().value().scopes, 1);
  }
}

TEST(StatePlace, ATierThatIsThereHasDurableFoldersAboveIt) {
  const std::string folder = "/a/b/kept";
  bool failed = true;
  for (int64_t call = 0; failed; ++call) {
    SCOPED_TRACE(call);
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    faulty->fail({.after = call});
    const Status made = make_state_folder(*faulty, folder);
    EXPECT_TRUE(made.ok() || faulty->failed() > 0) << made.text();
    failed = faulty->failed() > 0;
    faulty->heal();
    // Who comes next makes what is missing, and does not ask twice.
    if (!memory->facts(tier_folder(folder)).ok()) {
      ASSERT_TRUE(make_state_folder(*faulty, folder).ok());
    }
    ASSERT_TRUE(memory->sync_folder(folder).ok());
    EXPECT_TRUE(memory->power_loss({})->facts(tier_folder(folder)).ok());
  }
}

TEST(StatePlace, AnExistingFolderIsUsedAsItIs) {
  const auto memory = MemoryFileSystem::make();
  memory->create_folder("/kept").check();
  EXPECT_TRUE(make_state_folder(*memory, "/kept/").ok());
  EXPECT_TRUE(memory->facts("/kept/tier").ok());
  memory->create("/file").value();
  EXPECT_FALSE(make_state_folder(*memory, "/file").ok());
}

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(StateShare, OfTheDiskIsTheSmallerOf20GiBAndATenthOfWhatIsFree) {
  const auto share = [](int64_t free, int64_t kept) {
    return app::disk_share(Bytes(free), Bytes(kept)).get();
  };
  EXPECT_EQ(share(100 * kGiB, 0), 10 * kGiB);
  EXPECT_EQ(share(200 * kGiB, 0), 20 * kGiB);
  EXPECT_EQ(share(4000 * kGiB, 0), 20 * kGiB);
  EXPECT_EQ(share(0, 0), 0);
  // It does not shrink as the folder fills, nor where others fill the device.
  EXPECT_EQ(share(92 * kGiB, 8 * kGiB), 10 * kGiB);
  EXPECT_EQ(share(1 * kGiB, 8 * kGiB), 8 * kGiB);
  EXPECT_EQ(share(1 * kGiB, 30 * kGiB), 20 * kGiB);
}

TEST(StateShare, OfMemoryIsHalfOfWhatIsAvailable) {
  const auto share = [](const std::string& text) {
    std::istringstream meminfo(text);
    return app::ram_share(meminfo).get();
  };
  EXPECT_EQ(
      share("MemTotal:       16000000 kB\nMemFree:         1000000 kB\n"
            "MemAvailable:    8000000 kB\nBuffers:           10000 kB\n"),
      int64_t{4000000} * 1024);
  EXPECT_EQ(share("MemTotal: 16000000 kB\n"), kGiB);
  EXPECT_EQ(share("MemAvailable: ? kB\n"), kGiB);
  EXPECT_EQ(share(""), kGiB);
}

/// What a command takes that was called with these words.
PrefixCacheOptions taken(std::vector<std::string> words) {
  CLI::App command;
  app::StateFolder folder;
  folder.add_to(command);
  std::ranges::reverse(words);
  command.parse(words);
  return folder.cache_options();
}

// Others take and give meanwhile: up to a quarter.
void expect_near(Bytes got, Bytes expected) {
  EXPECT_GT(got.get(), expected.get() / 4 * 3);
  EXPECT_LT(got.get(), expected.get() / 4 * 5);
}

TEST(StateShare, IsWhatACommandTakesUnlessItIsTold) {
  const TempFolder above;
  const std::string folder = above / "kept";
  const PrefixCacheOptions unsaid = taken({"--state", folder});
  expect_near(unsaid.ram, app::default_ram_bytes());
  const Bytes free = posix_file_system()->free_space(above.path()).value();
  expect_near(
      unsaid.disk->stats().value().max_bytes, app::disk_share(free, Bytes()));
  const PrefixCacheOptions said = taken(
      {"--state",
       folder,
       "--max-disk-bytes",
       "30000000000",
       "--max-cache-bytes",
       "5000"});
  EXPECT_EQ(said.ram, Bytes(5000));
  EXPECT_EQ(said.disk->stats().value().max_bytes, Bytes(30'000'000'000));
  EXPECT_EQ(taken({"--state", "none"}).disk, nullptr);
}

} // namespace
} // namespace holdfast::test
