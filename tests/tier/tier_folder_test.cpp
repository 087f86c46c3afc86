// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a tier keeps in open/: whoever is alive is never taken for dead.

#include "holdfast/tier/tier_folder.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

/// Notes for each lock of a tier whether the folder's was held meanwhile.
class WatchedLocks : public FaultyFileSystem {
 public:
  explicit WatchedLocks(std::shared_ptr<FileSystem> below)
      : FaultyFileSystem(below), below_(std::move(below)) {}

  Result<std::unique_ptr<FileLock>>
  lock(const std::string& path, Wait wait) override {
    if (path.find("/open/") != path.npos) {
      const auto folder = below_->lock("/state/lock", Wait::kNo);
      ++(folder.ok() ? without : with);
    }
    return FaultyFileSystem::lock(path, wait);
  }

  int with = 0;
  int without = 0;

 private:
  const std::shared_ptr<FileSystem> below_;
};

// Between a file's making and its locking another tier could find it, lock it
// and remove it; its owner's lock would then be on a file without a name.
TEST(TierFolder, NobodyLooksBetweenATiersFileAndItsLock) {
  TierRig rig;
  const auto watched = std::make_shared<WatchedLocks>(rig.memory);
  rig.options.files = watched;
  const auto one = rig.open();
  EXPECT_EQ(watched->with, 1);
  const auto other = rig.open(); // asks whether the first is alive
  EXPECT_GT(watched->with, 2);
  EXPECT_EQ(watched->without, 0);
}

TEST(TierFolder, ManyThatOpenAtOnceAllStayAlive) {
  const TempFolder folder;
  constexpr int kThreads = 4;
  constexpr int kRounds = 60;
  std::atomic<int> opened{0};
  std::atomic<int> dead{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto files = posix_file_system();
      for (int round = 0; round < kRounds; ++round) {
        TierFolder tier(files, folder.path());
        tier.enter();
        const SegmentIdentity segment = tier.next_segment();
        const std::string lease = tier.lease(segment);
        {
          const auto lock = tier.lock();
          std::vector<TierFinding> findings;
          tier.open_tiers(findings); // removes what looks dead
        }
        std::this_thread::yield();
        ++opened;
        dead += files->facts(lease).ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(opened, kThreads * kRounds);
  EXPECT_EQ(dead, 0);
}

} // namespace
} // namespace holdfast::test
