// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/key_claims.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/base/sha256.h"
#include "holdfast/env/faulty_file_system.h"
#include "holdfast/env/memory_file_system.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

using testing::ElementsAre;

TEST(KeyClaims, KeepsOthersOffAKeyWhileItsValueLives) {
  const auto files = MemoryFileSystem::make();
  KeyClaims one(files, "/claims");
  KeyClaims other(files, "/claims");
  auto held = one.claim("a/../b\n").value();
  EXPECT_EQ(other.claim("a/../b\n").status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(one.claim("a/../b\n").status().code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(other.claim("another").ok());
  held.reset();
  EXPECT_TRUE(other.claim("a/../b\n").ok());
}

TEST(KeyClaims, LeavesNoFileOfAKeyBehind) {
  const auto files = MemoryFileSystem::make();
  {
    KeyClaims claims(files, "/claims");
    std::vector<std::shared_ptr<void>> held;
    for (int i = 0; i < 20; ++i) {
      held.push_back(claims.claim(std::to_string(i)).value());
    }
    EXPECT_EQ(names_in(*files, "/claims").size(), 21u);
  }
  EXPECT_THAT(names_in(*files, "/claims"), ElementsAre("lock"));
}

TEST(KeyClaims, RemovesWhatDeadOwnersLeftAndNothingElse) {
  const auto files = MemoryFileSystem::make();
  KeyClaims claims(files, "/claims");
  const auto alive = claims.claim("alive").value();
  // As of a process that was killed: a file whose lock nobody has.
  ASSERT_TRUE(files->create("/claims/" + sha256("dead").hex()).ok());
  ASSERT_TRUE(files->create("/claims/somebody's").ok());
  EXPECT_EQ(names_in(*files, "/claims").size(), 4u);
  EXPECT_TRUE(claims.claim("dead").ok()); // and given back
  EXPECT_THAT(
      names_in(*files, "/claims"),
      testing::UnorderedElementsAre(
          "lock", "somebody's", sha256("alive").hex()));
  EXPECT_EQ(claims.claim("alive").status().code(), ErrorCode::kUnsupported);
}

// Each failing call of a claim and its end: refused or held, and never two.
TEST(KeyClaims, NeverHasTwoOwnersWhateverCallFails) {
  for (int64_t call = 1; call < 20; ++call) {
    const auto memory = MemoryFileSystem::make();
    const auto faulty = std::make_shared<FaultyFileSystem>(memory);
    KeyClaims failing(faulty, "/claims");
    KeyClaims sound(memory, "/claims");
    faulty->fail({.after = call - 1});
    auto held = failing.claim("k");
    EXPECT_EQ(sound.claim("k").ok(), !held.ok()) << call;
    if (held.ok()) {
      std::move(held).value().reset();
      EXPECT_TRUE(sound.claim("k").ok()) << call;
    }
  }
}

TEST(KeyClaims, OfAllKeysMeetsNoOther) {
  const auto files = MemoryFileSystem::make();
  KeyClaims one(files, "/claims");
  KeyClaims other(files, "/claims");
  auto key = one.claim("k").value();
  EXPECT_EQ(other.claim_all().status().code(), ErrorCode::kUnsupported);
  key.reset();
  auto all = other.claim_all().value();
  EXPECT_EQ(one.claim("k").status().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(one.claim_all().status().code(), ErrorCode::kUnsupported);
  all.reset();
  EXPECT_TRUE(one.claim("k").ok());
  EXPECT_THAT(names_in(*files, "/claims"), ElementsAre("lock"));
  EXPECT_THROW((void)one.claim(""), Error);
}

TEST(KeyClaims, InATiersFolderAreNoForeignFiles) {
  const TierRig rig;
  const auto tier = rig.open();
  KeyClaims claims(rig.memory, rig.options.folder + "/claims");
  const auto held = claims.claim("k").value();
  const auto again = rig.open();
  EXPECT_TRUE(again->report().findings.empty());
  EXPECT_EQ(again->stats().value().foreign, Bytes());
  expect_consistent(*again);
  EXPECT_EQ(claims.claim("k").status().code(), ErrorCode::kUnsupported);
}

TEST(KeyClaims, OfAProcessThatIsKilledEndWithIt) {
  const std::string folder = (std::filesystem::temp_directory_path() /
                              ("holdfast_claims_" + std::to_string(getpid())))
                                 .string();
  KeyClaims claims(posix_file_system(), folder);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    KeyClaims theirs(posix_file_system(), folder);
    const auto held = theirs.claim("k");
    const char said = held.ok() ? 'y' : 'n';
    (void)!write(ready[1], &said, 1);
    pause();
    _exit(0);
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  EXPECT_EQ(claims.claim("k").status().code(), ErrorCode::kUnsupported);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(claims.claim("k").ok());
  std::filesystem::remove_all(folder);
}

TEST(KeyClaims, HaveOneOwnerAmongManyThreads) {
  const auto files = MemoryFileSystem::make();
  std::atomic<int> owners{0};
  std::atomic<int> most{0};
  std::atomic<int> claimed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      KeyClaims claims(files, "/claims");
      for (int round = 0; round < 50; ++round) {
        const auto held = claims.claim("k");
        if (held.ok()) {
          most = std::max(most.load(), ++owners);
          ++claimed;
          --owners;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(most, 1);
  EXPECT_GT(claimed, 0);
}

} // namespace
} // namespace holdfast::test
