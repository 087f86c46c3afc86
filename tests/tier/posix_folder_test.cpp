// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tier in folders of the system's that make difficulties: a small file
// system that gets full, one that may only be read, odd files in its place.

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/env/small_device.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

const ScopeText kScope{"model a"};

DiskTierOptions options_in(const std::string& folder) {
  DiskTierOptions options;
  options.folder = folder;
  options.files = posix_file_system();
  options.clock = std::make_shared<ManualClock>();
  return options;
}

Result<Stored> store_chat(DiskTier& tier, const Images& images, int chat) {
  return tier.store(
      path_batch(tier.scope(kScope).value(), chat_tokens(chat, 320), images));
}

// FAULTS B70: a full disk, of the system's.
TEST(DiskTierSmallDevice, B70_AFullOneLosesNothingAndStoresResume) {
  const TempFolder folder;
  const Images images;
  HOLDFAST_ON_SMALL_DEVICE(folder.path(), [&] {
    const auto tier = DiskTier::open(options_in(folder / "state")).value();
    int stored = 0;
    Status last;
    while (last.ok() && stored < 1000) {
      last = store_chat(*tier, images, stored).status();
      stored += last.ok();
    }
    EXPECT_EQ(last.code(), ErrorCode::kOutOfBudget) << last.text();
    EXPECT_GT(stored, 20);
    // Somebody else takes what is left: the manifest and its journal have none.
    {
      const auto other = posix_file_system()->create(folder / "other").value();
      const std::vector<std::byte> page(4096, std::byte{1});
      for (int64_t at = 0; other->write(Bytes(at), page).ok(); at += 4096) {
      }
    }
    for (int again = 0; again < 3; ++again) {
      EXPECT_FALSE(store_chat(*tier, images, stored).ok());
    }
    EXPECT_EQ(names_in(*posix_file_system(), folder / "state/open").size(), 1u)
        << "no half files";
    EXPECT_EQ(offered(*tier).nodes.size(), static_cast<size_t>(stored) * 5)
        << "earlier entries are readable";
    posix_file_system()->remove(folder / "other").check();
    tier->evict(Bytes(200000)).value();
    EXPECT_TRUE(store_chat(*tier, images, stored).ok());
    EXPECT_EQ(offered(*tier).restorable(chat_tokens(stored, 320)), 320);
    expect_consistent(*tier);
  });
}

TEST(DiskTierSmallDevice, OneThatMayOnlyBeReadIsRefusedAndStaysAsItIs) {
  const TempFolder folder;
  const Images images;
  HOLDFAST_ON_SMALL_DEVICE(folder.path(), [&] {
    const DiskTierOptions options = options_in(folder / "state");
    {
      const auto tier = DiskTier::open(options).value();
      store_chat(*tier, images, 1).value();
    }
    const auto remount = [&](unsigned long flags) {
      return ::mount(
          "tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT | flags, "");
    };
    ASSERT_EQ(remount(MS_RDONLY), 0);
    const Status status = DiskTier::open(options).status();
    EXPECT_EQ(status.code(), ErrorCode::kIo);
    EXPECT_NE(status.text().find(options.folder), std::string::npos)
        << status.text();
    ASSERT_EQ(remount(0), 0);
    const auto tier = DiskTier::open(options).value();
    EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 320)), 320);
  });
}

/// Puts something odd in the place of a file of the tier's.
struct Odd {
  const char* name;
  std::function<bool(const std::string& path, const std::string& target)> put;
};

std::vector<Odd> odd_files() {
  return {
      {"a link to a file",
       [](const std::string& path, const std::string& target) {
         return ::symlink(target.c_str(), path.c_str()) == 0;
       }},
      {"a link to nothing",
       [](const std::string& path, const std::string&) {
         return ::symlink("/nonexistent", path.c_str()) == 0;
       }},
      {"a pipe",
       [](const std::string& path, const std::string&) {
         return ::mkfifo(path.c_str(), 0600) == 0;
       }},
      {"a folder", [](const std::string& path, const std::string&) {
         return ::mkdir(path.c_str(), 0700) == 0;
       }}};
}

class DiskTierOddFiles : public testing::Test {
 protected:
  DiskTierOddFiles() {
    std::fclose(std::fopen(target_.c_str(), "w"));
    const auto tier = DiskTier::open(options_).value();
    store_chat(*tier, images_, 1).value();
  }
  /// What a link points to is never written to.
  void expect_untouched() const {
    EXPECT_EQ(posix_file_system()->facts(target_).value().size, Bytes(0));
  }

  const TempFolder folder_;
  const std::string target_ = folder_ / "target";
  const DiskTierOptions options_ = options_in(folder_ / "state");
  const Images images_;
};

TEST_F(DiskTierOddFiles, InTheManifestsPlaceAreSetAside) {
  for (const Odd& odd : odd_files()) {
    SCOPED_TRACE(odd.name);
    const std::string path = options_.folder + "/manifest.db";
    ASSERT_EQ(::unlink(path.c_str()), 0);
    ASSERT_TRUE(odd.put(path, target_));
    const auto tier = DiskTier::open(options_).value();
    EXPECT_TRUE(offered(*tier).nodes.empty());
    EXPECT_TRUE(store_chat(*tier, images_, 1).ok());
    expect_untouched();
  }
}

TEST_F(DiskTierOddFiles, InTheLocksPlaceAreRefused) {
  for (const Odd& odd : odd_files()) {
    SCOPED_TRACE(odd.name);
    const std::string path = options_.folder + "/lock";
    ASSERT_EQ(::unlink(path.c_str()), 0);
    ASSERT_TRUE(odd.put(path, target_));
    const Status status = DiskTier::open(options_).status();
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.text().find("lock"), std::string::npos) << status.text();
    expect_untouched();
    ASSERT_EQ(::remove(path.c_str()), 0);
    EXPECT_TRUE(DiskTier::open(options_).ok());
  }
}

TEST_F(DiskTierOddFiles, InASegmentsPlaceAreCountedAndItsImagesAreMisses) {
  const auto segments = segments_of(*options_.files, options_.folder);
  ASSERT_EQ(segments.size(), 1u);
  ASSERT_EQ(::unlink(segments[0].c_str()), 0);
  ASSERT_EQ(::symlink(target_.c_str(), segments[0].c_str()), 0);
  const auto tier = DiskTier::open(options_).value();
  EXPECT_EQ(offered(*tier).restorable(chat_tokens(1, 320)), 0);
  EXPECT_EQ(tier->report().foreign, 1);
  EXPECT_TRUE(store_chat(*tier, images_, 1).ok());
  expect_untouched();
  expect_consistent(*tier);
}

TEST_F(DiskTierOddFiles, OfOddNamesStayAsTheyAre) {
  const std::vector<std::string> names = {
      " ",
      "-rf",
      "a\nb",
      std::string(200, 'n'),
      "\xff\xfe",
      "0123456789abcdef-1.segment ",
      "0123456789abcdef--1.segment",
      "0123456789abcdef-18446744073709551616.segment",
      "0123456789abcdef-.segment",
      "manifest.db-wal",
      "..segment"};
  for (const std::string& name : names) {
    std::fclose(std::fopen((options_.folder + "/" + name).c_str(), "w"));
    std::fclose(std::fopen((options_.folder + "/open/" + name).c_str(), "w"));
  }
  const auto tier = DiskTier::open(options_).value();
  tier->evict(Bytes(int64_t{1} << 40)).value();
  tier->prune().value();
  for (const std::string& name : names) {
    EXPECT_THAT(
        names_in(*options_.files, options_.folder), testing::Contains(name));
    EXPECT_THAT(
        names_in(*options_.files, options_.folder + "/open"),
        testing::Contains(name));
  }
  EXPECT_TRUE(store_chat(*tier, images_, 2).ok());
}

} // namespace
} // namespace holdfast::test
