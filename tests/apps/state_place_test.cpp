// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The folder that state is kept in, over a file system that loses power.

#include <gtest/gtest.h>

#include "apps/holdfast/state_place.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/manual_clock.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/tier/disk_tier.h"

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

} // namespace
} // namespace holdfast::test
