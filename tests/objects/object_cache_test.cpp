// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the cache promises of one object and of several: RAM, disk, leases,
// budget, order of eviction, making.

#include "holdfast/objects/object_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/code_of.h"
#include "tests/objects/object_rig.h"

namespace holdfast::test {
namespace {

constexpr int64_t kSize = 4096;

std::string value(int number, int version = 0) {
  return value_of(number, version, kSize);
}

TEST(ObjectCache, GivesBackExactlyWhatWasPut) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  put(cache, 1, value(1));
  EXPECT_EQ(get(cache, 1), value(1));
  EXPECT_EQ(get(cache, 2), "");
  EXPECT_FALSE(cache.get({"other", name_of(1).key}));
  EXPECT_FALSE(cache.get({"test", name_of(1).key + " "}));
  put(cache, 1, value(1, 2).substr(0, 100));
  EXPECT_EQ(get(cache, 1), value(1, 2).substr(0, 100));
  EXPECT_EQ(cache.stats().kept, Bytes(128)); // whole lines of 64 bytes
  EXPECT_EQ(cache.stats().bytes, Bytes(128));
}

TEST(ObjectCache, ASpaceEndsWhereItEnds) {
  ObjectRig rig;
  ObjectCache cache(rig.over(rig.open_disk(), 10 * kSize));
  cache.put({"a", "bc"}, open_with(cache, value(1)));
  cache.put({"ab", "c"}, open_with(cache, value(2)));
  EXPECT_TRUE(cache.flush().durable);
  cache.set_budget(Bytes(0));
  EXPECT_EQ(text_of(*cache.get({"a", "bc"})), value(1));
  EXPECT_EQ(text_of(*cache.get({"ab", "c"})), value(2));
}

TEST(ObjectCache, AnObjectIsThereAfterARestart) {
  ObjectRig rig;
  for (const int64_t size : {int64_t{16}, kSize, int64_t{100000}}) {
    {
      ObjectCache cache(rig.over(rig.open_disk(), 1 << 20));
      put(cache, 1, value_of(1, 0, size));
      const FlushReport report = cache.flush();
      EXPECT_TRUE(report.durable);
      EXPECT_EQ(report.flushed, 1);
      EXPECT_EQ(cache.stats().on_disk, 1);
    }
    ObjectCache cache(rig.over(rig.open_disk(), 1 << 20));
    EXPECT_EQ(get(cache, 1), value_of(1, 0, size));
    EXPECT_EQ(get(cache, 1), value_of(1, 0, size));
    const ObjectStats stats = cache.stats();
    EXPECT_EQ(stats.from_disk, 1);
    EXPECT_EQ(stats.from_ram, 1);
    EXPECT_EQ(stats.missed, 0);
  }
}

TEST(ObjectCache, WhatIsOnDiskAlreadyIsNotWrittenAgain) {
  ObjectRig rig;
  const auto disk = rig.open_disk();
  ObjectCache cache(rig.over(disk, 1 << 20));
  put(cache, 1, value(1));
  ASSERT_TRUE(cache.flush().durable);
  const Bytes written = disk->stats().value().written_total;
  put(cache, 1, value(1)); // the disk may have evicted it, so it is asked
  EXPECT_EQ(cache.pending().pending_records, 1);
  ASSERT_TRUE(cache.flush().durable);
  EXPECT_EQ(disk->stats().value().written_total, written);
  ObjectCache other(rig.over(disk, 1 << 20)); // does not know it yet
  put(other, 1, value(1));
  EXPECT_EQ(other.pending().pending_records, 1);
  ASSERT_TRUE(other.flush().durable);
  EXPECT_EQ(disk->stats().value().written_total, written);
  EXPECT_EQ(other.stats().on_disk, 1);
  put(other, 1, value(1, 2));
  ASSERT_TRUE(other.flush().durable);
  EXPECT_GT(disk->stats().value().written_total, written);
}

TEST(ObjectCache, AHolderKeepsItsBytesWhateverHappens) {
  ObjectRig rig;
  auto cache =
      std::make_unique<ObjectCache>(rig.over(rig.open_disk(), 4 << 20));
  const std::string large = value_of(2, 0, 1 << 20);
  put(*cache, 1, value(1));
  put(*cache, 2, large);
  ASSERT_TRUE(cache->flush().durable);
  cache->set_budget(Bytes(0));
  EXPECT_EQ(cache->stats().objects, 0);
  cache->set_budget(Bytes(4 << 20));
  const Object copied = *cache->get(name_of(1));
  const Object mapped = *cache->get(name_of(2));
  put(*cache, 1, value(1, 7));
  put(*cache, 2, value(2, 7));
  ASSERT_TRUE(cache->flush().durable);
  EXPECT_TRUE(cache->remove(name_of(1)).ok());
  EXPECT_TRUE(cache->remove(name_of(2)).ok());
  // Replaced and removed, and still counted.
  EXPECT_EQ(cache->stats().kept, Bytes(0));
  EXPECT_EQ(cache->stats().bytes, copied.held() + mapped.held());
  cache.reset();
  EXPECT_EQ(text_of(copied), value(1));
  EXPECT_EQ(text_of(mapped), large);
}

TEST(ObjectCache, WhatIsHeldIsNotEvictedAndCounts) {
  ObjectCache cache({.ram = Bytes(3 * kSize)});
  Object first = put(cache, 1, value(1));
  put(cache, 2, value(2));
  put(cache, 3, value(3));
  put(cache, 4, value(4)); // 1 is the oldest, and held
  EXPECT_EQ(get(cache, 1), value(1));
  EXPECT_EQ(get(cache, 2), "");
  Object third = *cache.get(name_of(3));
  Object fourth = *cache.get(name_of(4));
  EXPECT_EQ(code_of([&] { put(cache, 5, value(5)); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(cache.stats().no_room, 1);
  EXPECT_EQ(cache.stats().objects, 3); // nobody left for nothing
  fourth = {};
  put(cache, 5, value(5));
  EXPECT_EQ(get(cache, 4), "");
  EXPECT_LE(cache.stats().bytes, Bytes(3 * kSize));
}

TEST(ObjectCache, OneThatCannotFitLetsNobodyLeave) {
  ObjectCache cache({.ram = Bytes(2 * kSize)});
  put(cache, 1, value(1));
  EXPECT_EQ(
      code_of([&] { cache.open(Bytes(2 * kSize + 1)); }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(get(cache, 1), value(1));
}

TEST(ObjectCache, WhatIsOpenCountsUntilItIsGone) {
  ObjectCache cache({.ram = Bytes(2 * kSize)});
  {
    const OpenObject open = cache.open(Bytes(kSize));
    EXPECT_EQ(cache.stats().bytes, Bytes(kSize));
    EXPECT_EQ(
        code_of([&] { cache.open(Bytes(kSize + 1)); }),
        ErrorCode::kOutOfBudget);
  }
  EXPECT_EQ(cache.stats().bytes, Bytes(0));
}

TEST(ObjectCache, TheLeastRecentlyUsedLeavesFirst) {
  ObjectCache cache({.ram = Bytes(3 * kSize)});
  for (const int number : {1, 2, 3}) {
    put(cache, number, value(number));
  }
  get(cache, 1);
  put(cache, 4, value(4));
  put(cache, 5, value(5));
  EXPECT_EQ(get(cache, 2), "");
  EXPECT_EQ(get(cache, 3), "");
  EXPECT_EQ(get(cache, 1), value(1));
  EXPECT_EQ(cache.stats().lost, 2);
}

TEST(ObjectCache, WhatTheDiskHasLeavesFirst) {
  ObjectRig rig;
  ObjectCache cache(rig.over(rig.open_disk(), 3 * kSize));
  put(cache, 1, value(1));
  put(cache, 2, value(2));
  ASSERT_TRUE(cache.flush().durable);
  put(cache, 3, value(3)); // newer than 2, older than the use of 1 and 2
  get(cache, 1);
  get(cache, 2);
  put(cache, 4, value(4));
  const ObjectStats stats = cache.stats();
  EXPECT_EQ(stats.dropped, 1);
  EXPECT_EQ(stats.lost, 0);
  EXPECT_EQ(stats.on_disk, 1); // 2
  EXPECT_EQ(get(cache, 1), value(1)); // from disk; 2 leaves for it
  EXPECT_EQ(cache.stats().dropped, 2);
  EXPECT_EQ(get(cache, 3), value(3));
  EXPECT_EQ(cache.stats().from_disk, 1);
}

TEST(ObjectCache, WhatIsDearToMakeStaysLongerButNotForEver) {
  ObjectCache cache({.ram = Bytes(3 * kSize)});
  cache.put(name_of(1), open_with(cache, value(1)), 10 * kSize);
  for (int number = 2; number < 12; ++number) {
    put(cache, number, value(number));
  }
  EXPECT_EQ(cache.stats().objects, 3);
  for (int number = 12; number < 40; ++number) {
    put(cache, number, value(number));
  }
  EXPECT_EQ(cache.stats().objects, 3);
  EXPECT_EQ(get(cache, 1), "");
  cache.put(name_of(1), open_with(cache, value(1)), 10 * kSize);
  for (int number = 2; number < 12; ++number) {
    put(cache, number, value(number));
  }
  EXPECT_EQ(get(cache, 1), value(1));
}

TEST(ObjectCache, ASmallerBudgetBindsAtOnceAsFarAsOthersLetGo) {
  ObjectCache cache({.ram = Bytes(4 * kSize)});
  Object held = put(cache, 1, value(1));
  put(cache, 2, value(2));
  put(cache, 3, value(3));
  cache.set_budget(Bytes(kSize / 2));
  EXPECT_EQ(cache.stats().objects, 1);
  EXPECT_EQ(cache.stats().bytes, Bytes(kSize));
  held = {};
  EXPECT_EQ(code_of([&] { put(cache, 4, value(4)); }), ErrorCode::kOutOfBudget);
  cache.set_budget(Bytes(kSize / 2));
  EXPECT_EQ(cache.stats().bytes, Bytes(0));
}

TEST(ObjectCache, ServesFromDiskWithoutRoomInRam) {
  ObjectRig rig;
  ObjectCache cache(rig.over(rig.open_disk(), 1 << 20));
  put(cache, 1, value(1));
  put(cache, 2, value_of(2, 0, 200000));
  ASSERT_TRUE(cache.flush().durable);
  cache.set_budget(Bytes(0));
  EXPECT_EQ(get(cache, 1), value(1));
  EXPECT_EQ(get(cache, 2), value_of(2, 0, 200000));
  EXPECT_EQ(cache.stats().objects, 0);
  EXPECT_EQ(cache.stats().bytes, Bytes(0));
}

TEST(ObjectCache, ARemovedObjectIsGoneFromRamAndDisk) {
  ObjectRig rig;
  const auto disk = rig.open_disk();
  ObjectCache cache(rig.over(disk, 1 << 20));
  put(cache, 1, value(1));
  put(cache, 2, value(2));
  ASSERT_TRUE(cache.flush().durable);
  put(cache, 2, value(2, 1)); // dirty once more
  EXPECT_TRUE(cache.remove(name_of(1)).ok());
  EXPECT_TRUE(cache.remove(name_of(2)).ok());
  EXPECT_TRUE(cache.remove(name_of(3)).ok());
  EXPECT_EQ(get(cache, 1), "");
  EXPECT_EQ(get(cache, 2), "");
  EXPECT_TRUE(cache.flush().durable);
  EXPECT_EQ(disk->stats().value().objects.count, 0);
}

TEST(ObjectCache, SeveralHitEachByItselfInTheirOrder) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  put(cache, 1, value(1));
  put(cache, 3, value(3));
  const std::vector<ObjectKey> keys{
      name_of(3), name_of(2), name_of(1), name_of(3)};
  const auto found = cache.get_many(keys);
  EXPECT_EQ(text_of(*found[0]), value(3));
  EXPECT_FALSE(found[1]);
  EXPECT_EQ(text_of(*found[2]), value(1));
  EXPECT_EQ(text_of(*found[3]), value(3));
}

TEST(ObjectCache, MakesWhatIsMissingAloneAndOnce) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  put(cache, 1, value(1));
  const std::vector<ObjectKey> keys{
      name_of(2), name_of(1), name_of(3), name_of(2)};
  std::vector<size_t> asked;
  const auto make = [&](std::span<const size_t> missing) {
    asked.insert(asked.end(), missing.begin(), missing.end());
    std::vector<MadeObject> made;
    for (const size_t i : missing) {
      made.push_back({open_with(cache, value(i == 0 ? 2 : 3)), 5});
    }
    return made;
  };
  for (int round = 0; round < 2; ++round) {
    const auto found = cache.get_or_make(keys, make);
    EXPECT_EQ(text_of(*found[0]), value(2));
    EXPECT_EQ(text_of(*found[1]), value(1));
    EXPECT_EQ(text_of(*found[2]), value(3));
    EXPECT_EQ(*found[3], *found[0]);
  }
  EXPECT_EQ(asked, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(cache.stats().made, 2);
}

TEST(ObjectCache, AFailedMakerLeavesNothing) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  const std::vector<ObjectKey> keys{name_of(1), name_of(2)};
  EXPECT_THROW(
      cache.get_or_make(
          keys,
          [&](std::span<const size_t>) -> std::vector<MadeObject> {
            const OpenObject open = open_with(cache, value(1));
            throw std::runtime_error("no");
          }),
      std::runtime_error);
  EXPECT_EQ(
      code_of([&] {
        cache.get_or_make(keys, [](std::span<const size_t>) {
          return std::vector<MadeObject>(1);
        });
      }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache.stats().objects, 0);
  EXPECT_EQ(cache.stats().bytes, Bytes(0));
  const auto found =
      cache.get_or_make(keys, [&](std::span<const size_t> missing) {
        EXPECT_EQ(missing.size(), 2u);
        return std::vector<MadeObject>(2); // keeps neither
      });
  EXPECT_FALSE(found[0] || found[1]);
}

TEST(ObjectCache, AMakerThatAsksForItsOwnObjectIsRefused) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  const std::vector<ObjectKey> keys{name_of(1)};
  std::function<std::vector<MadeObject>(std::span<const size_t>)> make;
  make = [&](std::span<const size_t>) {
    cache.get_or_make(keys, make);
    return std::vector<MadeObject>(1);
  };
  EXPECT_EQ(
      code_of([&] { cache.get_or_make(keys, make); }),
      ErrorCode::kInvalidArgument);
  // Another key is none of its business.
  const std::vector<ObjectKey> others{name_of(2)};
  const auto found = cache.get_or_make(keys, [&](std::span<const size_t>) {
    cache.get_or_make(others, [&](std::span<const size_t>) {
      std::vector<MadeObject> inner;
      inner.push_back({open_with(cache, value(2)), 0});
      return inner;
    });
    std::vector<MadeObject> outer;
    outer.push_back({open_with(cache, value(1)), 0});
    return outer;
  });
  EXPECT_EQ(text_of(*found[0]), value(1));
  EXPECT_EQ(get(cache, 2), value(2));
}

TEST(ObjectCache, RefusesMisuse) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  const auto refused = [](const auto& call) {
    return code_of(call) == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([&] { cache.open(Bytes(0)); }));
  EXPECT_TRUE(refused([&] { cache.get({"test", ""}); }));
  EXPECT_TRUE(refused([&] { cache.put(name_of(1), {}); }));
  EXPECT_TRUE(
      refused([&] { cache.put(name_of(1), open_with(cache, value(1)), -1); }));
  EXPECT_TRUE(refused([&] { cache.set_budget(Bytes(-1)); }));
  EXPECT_TRUE(refused([&] { ObjectCache({.ram = Bytes(-1)}); }));
}

TEST(ObjectCache, WithoutADiskAFlushSaysSo) {
  ObjectCache cache({.ram = Bytes(10 * kSize)});
  EXPECT_TRUE(cache.flush().durable);
  put(cache, 1, value(1));
  EXPECT_FALSE(cache.flush().durable);
}

} // namespace
} // namespace holdfast::test
