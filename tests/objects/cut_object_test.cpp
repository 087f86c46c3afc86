// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FAULTS B67, B77: a segment is cut short while objects of it are mapped. What
// is read of it then is zeros, and never given out or written as an object.

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/objects/object_rig.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

constexpr int kMapped = 0;
constexpr int kCopied = 1;

std::string value(int key) {
  return value_of(key, 0, key == kMapped ? 200000 : 60000);
}

/// Runs `then` once when a lease ends.
class LeaseHook : public FaultyFileSystem {
 public:
  explicit LeaseHook(std::shared_ptr<FileSystem> below)
      : FaultyFileSystem(std::move(below)) {}
  Status remove(const std::string& path) override {
    if (path.ends_with(".lease") && then) {
      std::exchange(then, nullptr)();
    }
    return FaultyFileSystem::remove(path);
  }
  std::function<void()> then;
};

class CutObject : public testing::Test {
 protected:
  CutObject() {
    const auto disk = open_disk(posix_file_system());
    ObjectCache cache(over(disk, 1 << 20));
    for (const int key : {kMapped, kCopied}) {
      put(cache, key, value(key));
      EXPECT_TRUE(cache.flush().durable);
    }
  }

  std::shared_ptr<DiskTier> open_disk(std::shared_ptr<FileSystem> files) const {
    return DiskTier::open({.folder = folder_ / "state",
                           .verify = Verify::kNever,
                           .files = std::move(files),
                           .clock = clock_})
        .value();
  }
  ObjectCacheOptions over(std::shared_ptr<DiskTier> disk, int64_t ram) const {
    return {
        .ram = Bytes(ram),
        .disk = std::move(disk),
        .clock = clock_,
        .writers = 0};
  }
  /// As another process would.
  void cut() const {
    const auto files = posix_file_system();
    for (const std::string& path : segments_of(*files, folder_ / "state")) {
      files->open(path, FileSystem::Access::kReadWrite)
          .value()
          ->truncate(Bytes(4096))
          .check();
    }
  }
  void expect_misses_and_goes_on(ObjectCache& cache, int key) const {
    EXPECT_EQ(get(cache, key), "");
    put(cache, key, value(key));
    EXPECT_TRUE(cache.flush().durable);
    cache.set_budget(Bytes(0));
    cache.set_budget(Bytes(1 << 20));
    EXPECT_EQ(get(cache, key), value(key));
  }

  const MappingGuard guard_;
  const TempFolder folder_;
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
};

TEST_F(CutObject, ThatIsMappedIsAMissTheNextTimeItIsAskedFor) {
  ObjectCache cache(over(open_disk(posix_file_system()), 1 << 20));
  {
    const auto held = cache.get(name_of(kMapped));
    ASSERT_EQ(text_of(*held), value(kMapped));
    EXPECT_TRUE(held->intact());
    cut();
    EXPECT_FALSE(held->intact());
    EXPECT_FALSE(cache.get(name_of(kMapped)));
    EXPECT_GE(cache.stats().unreadable, 1);
  }
  expect_misses_and_goes_on(cache, kMapped);
}

// The budget has room for one of them: the mapped one leaves for the copy, and
// what happens then happens between the mapping of the other and its copying.
TEST_F(CutObject, IsNotKeptAsACopyOfWhatWasThere) {
  const auto hook = std::make_shared<LeaseHook>(posix_file_system());
  ObjectCache cache(over(open_disk(hook), 210000));
  ASSERT_EQ(get(cache, kMapped), value(kMapped));
  bool was_cut = false;
  hook->then = [&] {
    cut();
    was_cut = true;
  };
  EXPECT_EQ(get(cache, kCopied), "");
  EXPECT_TRUE(was_cut);
  EXPECT_EQ(cache.stats().unreadable, 1);
  expect_misses_and_goes_on(cache, kCopied);
}

TEST_F(CutObject, IsNotTakenForTheSameBytesNorWrittenAgain) {
  const auto disk = open_disk(posix_file_system());
  ObjectCache cache(over(disk, 1 << 20));
  const auto held = cache.get(name_of(kMapped));
  // Known to be dirty, though its bytes are the mapped ones; gone from the
  // disk.
  put(cache, kMapped, value(kMapped));
  ASSERT_TRUE(disk->remove_object("test", name_of(kMapped).key).ok());
  cut();
  EXPECT_FALSE(cache.flush().durable);
  EXPECT_EQ(
      disk->object("test", name_of(kMapped).key).status().code(),
      ErrorCode::kNotFound);
  expect_misses_and_goes_on(cache, kMapped);
}

TEST_F(CutObject, IsReplacedByZerosThatWerePut) {
  ObjectCache cache(over(open_disk(posix_file_system()), 1 << 20));
  ASSERT_EQ(get(cache, kMapped), value(kMapped));
  cut();
  const std::string zeros(value(kMapped).size(), '\0');
  put(cache, kMapped, zeros);
  EXPECT_EQ(get(cache, kMapped), zeros);
  EXPECT_TRUE(cache.flush().durable);
  cache.set_budget(Bytes(0));
  EXPECT_EQ(get(cache, kMapped), zeros);
}

} // namespace
} // namespace holdfast::test
