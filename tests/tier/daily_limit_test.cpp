// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The most that is written into a folder a day: by all processes, by stores
// that failed and by the manifest, and what is said of it.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "holdfast/tier/manifest.h"
#include "holdfast/tier/tier_folder.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

const ScopeText kScope{"model a"};

class DailyLimit : public testing::Test {
 protected:
  DailyLimit() {
    rig_.options.files = faulty_;
    rig_.options.daily_bytes = Bytes(2 << 20);
  }
  Status store(DiskTier& tier, int chat) {
    const ScopeId scope = tier.scope(kScope).value();
    return tier
        .store(chat_batch(
            scope, chat_tokens(chat, 200), std::to_string(chat), rig_.images))
        .status();
  }
  /// Until the limit is met; how many were stored.
  int fill(DiskTier& tier, int chat) {
    int stored = 0;
    Status last;
    while ((last = store(tier, chat + stored)).ok()) {
      ++stored;
    }
    EXPECT_EQ(last.code(), ErrorCode::kOutOfBudget) << last.text();
    EXPECT_THAT(last.text(), HasSubstr("a day"));
    return stored;
  }
  static Bytes written(DiskTier& tier) {
    return tier.stats().value().written_today;
  }
  Bytes on_device() const {
    return rig_.memory->counts().bytes_written;
  }

  TierRig rig_;
  const std::shared_ptr<FaultyFileSystem> faulty_ =
      std::make_shared<FaultyFileSystem>(rig_.memory);
};

TEST_F(DailyLimit, HoldsForWhatTheDeviceWrites) {
  const auto tier = rig_.open();
  EXPECT_GT(fill(*tier, 0), 5);
  EXPECT_LE(on_device(), rig_.options.daily_bytes);
  EXPECT_GE(on_device(), Bytes((2 << 20) - (300 << 10)));
  EXPECT_EQ(written(*tier), on_device());
}

TEST_F(DailyLimit, IsOneForAllProcesses) {
  std::vector<std::unique_ptr<DiskTier>> tiers;
  for (int process = 0; process < 3; ++process) {
    tiers.push_back(rig_.open());
  }
  for (int round = 0; round < 2; ++round) {
    for (int process = 0; process < 3; ++process) {
      ASSERT_TRUE(
          store(*tiers[static_cast<size_t>(process)], 3 * round + process)
              .ok());
    }
  }
  fill(*tiers[0], 10);
  for (const auto& tier : tiers) {
    EXPECT_EQ(store(*tier, 100).code(), ErrorCode::kOutOfBudget);
  }
  tiers.clear();
  EXPECT_EQ(store(*rig_.open(), 100).code(), ErrorCode::kOutOfBudget);
  // What commits wrote less than they were taken to.
  EXPECT_LE(on_device(), rig_.options.daily_bytes + Bytes(3 * (64 << 10)));
}

// A disk that fails late, tried again and again: each try wears it.
TEST_F(DailyLimit, HoldsForStoresThatFail) {
  int tries = 0;
  {
    const auto tier = rig_.open();
    ASSERT_TRUE(store(*tier, 0).ok());
    Status last;
    do {
      faulty_->fail({.once = true, .only = FileCall::kRename});
      last = store(*tier, 1);
      faulty_->heal();
    } while (last.code() == ErrorCode::kIo && ++tries < 200);
    EXPECT_EQ(last.code(), ErrorCode::kOutOfBudget) << last.text();
    EXPECT_THAT(last.text(), HasSubstr("a day"));
    EXPECT_GT(tries, 5);
    EXPECT_GE(written(*tier), on_device());
    EXPECT_LE(written(*tier), on_device() + Bytes(64 << 10));
  }
  EXPECT_LE(on_device(), rig_.options.daily_bytes + Bytes(128 << 10));
  EXPECT_EQ(store(*rig_.open(), 2).code(), ErrorCode::kOutOfBudget)
      << "of others, too";
}

TEST_F(DailyLimit, HoldsForWhatOthersAreWriting) {
  const auto tier = rig_.open();
  ASSERT_TRUE(store(*tier, 0).ok());
  TierFolder other(rig_.memory, rig_.options.folder); // another process's
  other.enter();
  const auto file =
      rig_.memory->create(other.unfinished_path(other.next_segment())).value();
  file->truncate(Bytes(3 << 20)).check();
  const Status refused = store(*tier, 1);
  EXPECT_EQ(refused.code(), ErrorCode::kOutOfBudget);
  EXPECT_THAT(refused.text(), HasSubstr("a day"));
  file->truncate(Bytes(1000)).check();
  EXPECT_TRUE(store(*tier, 1).ok());
}

TEST_F(DailyLimit, HoldsForWhatTheDeadHadWritten) {
  ASSERT_TRUE(store(*rig_.open(), 0).ok());
  const auto file =
      rig_.memory->create("/state/open/0123456789abcdef-8.unfinished").value();
  file->write(Bytes(0), std::vector<std::byte>(3 << 20)).check();
  for (int process = 0; process < 2; ++process) { // it is gone, and counted
    EXPECT_EQ(store(*rig_.open(), 1).code(), ErrorCode::kOutOfBudget);
  }
}

TEST_F(DailyLimit, CountsWhatPinsAndRemovalsWroteWhenTheProcessEnds) {
  ASSERT_TRUE(store(*rig_.open(), 0).ok());
  const Bytes before = written(*rig_.open());
  const Bytes device = on_device();
  EXPECT_EQ(written(*rig_.open()), before) << "who looks writes nothing";
  EXPECT_EQ(on_device(), device);
  ASSERT_TRUE(rig_.open()->pin_record({"chat", "0"}, true).ok());
  ASSERT_TRUE(rig_.open()->pin_record({"chat", "0"}, false).ok());
  ASSERT_TRUE(rig_.open()->forget({"chat", "0"}).ok());
  EXPECT_GE(written(*rig_.open()) - before, on_device() - device);
}

// Its rows are gone with the transaction, its bytes were written.
TEST_F(DailyLimit, CountsACommitThatFailed) {
  const auto tier = rig_.open();
  ASSERT_TRUE(store(*tier, 0).ok());
  faulty_->fail(
      {.once = false, .only = FileCall::kSyncFolder}); // after its file's
  EXPECT_EQ(store(*tier, 1).code(), ErrorCode::kIo);
  faulty_->heal();
  ASSERT_TRUE(store(*tier, 2).ok());
  EXPECT_GE(written(*tier), on_device());
  EXPECT_LE(written(*tier), on_device() + Bytes(64 << 10));
}

} // namespace
} // namespace holdfast::test
