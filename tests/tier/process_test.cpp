// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Several processes in one folder of the system's files.

#include <array>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

DiskTierOptions options_in(const TempFolder& folder) {
  DiskTierOptions options;
  options.folder = folder / "state";
  options.files = posix_file_system();
  options.clock = system_clock();
  return options;
}

/// A child process that runs `work` and ends with whether it worked.
pid_t child(const std::function<bool()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    bool right = false;
    try {
      right = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(right && !testing::Test::HasFailure() ? 0 : 1);
  }
  return pid;
}

bool ended_well(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Chats 0 to 19, again and again, in an order of its own.
bool store_many(const DiskTierOptions& options, int seed, int rounds) {
  const Images images;
  const auto tier = std::move(DiskTier::open(options)).value();
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int round = 0; round < rounds; ++round) {
    const auto chat = static_cast<int>(random() % 20);
    const ScopeId scope = tier->scope(kScope).value();
    const auto stored = tier->store(
        path_batch(scope, chat_tokens(chat, 64 + chat * 7), images));
    if (!stored.ok()) {
      std::fprintf(stderr, "child: %s\n", stored.status().text().c_str());
      return false;
    }
    for (const auto& extents : stored.value().images) {
      for (const Extent& extent : extents) {
        if (!tier->map(extent).ok()) {
          return false;
        }
      }
    }
  }
  return true;
}

// FAULTS B67: two writers of the same keys in one folder, and a reader.
TEST(DiskTierProcesses, B67_TwoWritersAndAReaderSeeWholeStatesOnly) {
  const TempFolder folder;
  const DiskTierOptions options = options_in(folder);
  std::vector<pid_t> children;
  for (const int seed : {1, 2}) {
    children.push_back(child([&] { return store_many(options, seed, 200); }));
  }
  children.push_back(child([&] {
    const auto tier = std::move(DiskTier::open(options)).value();
    for (int round = 0; round < 20; ++round) {
      offered(*tier); // compares
    }
    return true;
  }));
  for (const pid_t pid : children) {
    EXPECT_TRUE(ended_well(pid));
  }
  const auto tier = std::move(DiskTier::open(options)).value();
  const Offered all = offered(*tier);
  const TierStats stats = tier->stats().value();
  EXPECT_EQ(stats.images.count, 2 * stats.nodes) << "each image once";
  EXPECT_EQ(tier->report().removed, 0) << "nothing was left over";
  expect_consistent(*tier);
}

TEST(DiskTierProcesses, AKillAtAnyMomentLeavesTheFolderWhole) {
  const TempFolder folder;
  const DiskTierOptions options = options_in(folder);
  std::mt19937 random(11);
  for (int round = 0; round < 25; ++round) {
    const pid_t pid =
        child([&] { return store_many(options, round, 1000000); });
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % 60000 + 500));
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
    const auto tier = std::move(DiskTier::open(options)).value();
    offered(*tier);
    expect_consistent(*tier);
    ASSERT_FALSE(testing::Test::HasFailure()) << round;
  }
}

TEST(DiskTierProcesses, ALeaseOfAnotherProcessKeepsItsBytes) {
  const TempFolder folder;
  const DiskTierOptions options = options_in(folder);
  const Images images;
  const Tokens tokens = chat_tokens(1, 128);
  {
    const auto tier = std::move(DiskTier::open(options)).value();
    tier->store(path_batch(tier->scope(kScope).value(), tokens, images))
        .value();
  }
  std::array<int, 2> mapped{};
  std::array<int, 2> evicted{};
  ASSERT_EQ(::pipe(mapped.data()), 0);
  ASSERT_EQ(::pipe(evicted.data()), 0);
  char byte = 0;
  const pid_t pid = child([&] {
    auto tier = std::move(DiskTier::open(options)).value();
    Offered all;
    tier->load(all).check();
    const auto& [id, node] = *all.nodes.begin();
    const MappedImage image = tier->map(node.stored.images[0].extent).value();
    tier.reset();
    const bool told = ::write(mapped[1], &byte, 1) == 1;
    return told && ::read(evicted[0], &byte, 1) == 1 &&
        text_of(image) == Images::text(node.path, kFull);
  });
  ASSERT_EQ(::read(mapped[0], &byte, 1), 1);
  const auto tier = std::move(DiskTier::open(options)).value();
  Offered all;
  tier->load(all).check();
  const Removed removed =
      tier->remove_nodes(std::vector{all.nodes.begin()->first}).value();
  EXPECT_EQ(removed.freed, Bytes(0));
  EXPECT_EQ(removed.nodes.size(), 2u);
  ASSERT_EQ(::write(evicted[1], &byte, 1), 1);
  EXPECT_TRUE(ended_well(pid));
  EXPECT_GT(tier->prune().value().freed, Bytes(0));
}

TEST(DiskTierPosix, FilesArePrivateAndLinksAreNotFollowed) {
  const TempFolder folder;
  const DiskTierOptions options = options_in(folder);
  const Images images;
  { const auto tier = std::move(DiskTier::open(options)).value(); }
  const std::string target = folder / "target";
  std::fclose(std::fopen(target.c_str(), "w"));
  const std::string link = options.folder + "/0123456789abcdef-1.segment";
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  ASSERT_EQ(::symlink(target.c_str(), (options.folder + "/other").c_str()), 0);
  const auto tier = std::move(DiskTier::open(options)).value();
  EXPECT_EQ(tier->report().foreign, 2);
  tier->store(
          path_batch(tier->scope(kScope).value(), chat_tokens(1, 64), images))
      .value();
  for (const std::string& name : names_in(*options.files, options.folder)) {
    struct stat facts = {};
    ASSERT_EQ(::lstat((options.folder + "/" + name).c_str(), &facts), 0);
    if (!S_ISLNK(facts.st_mode)) {
      EXPECT_EQ(facts.st_mode & 0777, S_ISDIR(facts.st_mode) ? 0700u : 0600u)
          << name;
    }
  }
  // A link in place of the whole folder.
  DiskTierOptions linked = options;
  linked.folder = folder / "link";
  ASSERT_EQ(::symlink(options.folder.c_str(), linked.folder.c_str()), 0);
  EXPECT_FALSE(DiskTier::open(linked).ok());
}

TEST(DiskTierPosix, EvictionGivesTheDevicesRoomBack) {
  const TempFolder folder;
  const DiskTierOptions options = options_in(folder);
  const Images images;
  const auto tier = std::move(DiskTier::open(options)).value();
  tier->store(
          path_batch(tier->scope(kScope).value(), chat_tokens(1, 640), images))
      .value();
  const Bytes before = bytes_below(*options.files, options.folder);
  const Removed removed = tier->evict(Bytes(5 * 12288)).value();
  EXPECT_EQ(removed.nodes.size(), 5u);
  if (removed.held == Bytes(0)) { // the file system can punch
    EXPECT_LE(
        bytes_below(*options.files, options.folder), before - Bytes(4 * 12288));
  }
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 640)), 320);
}

} // namespace
} // namespace holdfast::test
