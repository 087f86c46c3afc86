// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Many threads on one cache. Also run under the thread sanitizer.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "holdfast/env/clock.h"
#include "tests/objects/object_rig.h"
#include "tests/sanitized.h"

namespace holdfast::test {
namespace {

constexpr int kThreads = 6;
constexpr int kMoves = kSanitized ? 150 : 1000;
constexpr int kKeys = 12;

void on_threads(const std::function<void(int)>& work) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(work, t);
  }
}

int64_t size_of(int key) {
  return key % 3 == 0 ? 70000 : 2000;
}

/// The only value that a key ever has.
std::string value(int key) {
  return value_of(key, 0, size_of(key));
}

std::vector<MadeObject> made(ObjectCache& cache, std::span<const int> numbers) {
  std::vector<MadeObject> result;
  for (const int number : numbers) {
    MadeObject& object = result.emplace_back();
    try {
      object.object = open_with(cache, value(number));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfBudget);
    }
  }
  return result;
}

// Between the look at what RAM has and its removal, or before the disk's.
TEST(ObjectThreads, WhatIsPutWhileAnOlderOneIsFoundUnreadableStays) {
  ObjectRig rig;
  ObjectCache cache(rig.over(rig.open_disk(), 1 << 20));
  for (int round = 0; round < kMoves / 5; ++round) {
    put(cache, 1, value_of(1, 2 * round, 2000));
    ASSERT_TRUE(cache.flush().durable);
    const Object bad = *cache.get(name_of(1));
    const std::string next = value_of(1, 2 * round + 1, 2000);
    std::barrier start(2);
    std::jthread other([&] {
      start.arrive_and_wait();
      cache.unreadable(name_of(1), bad);
    });
    start.arrive_and_wait();
    put(cache, 1, next);
    if (round % 2 == 0) {
      cache.flush(); // its write may come before the older one's removal
    }
    other.join();
    ASSERT_EQ(get(cache, 1), next) << round;
    ASSERT_TRUE(cache.flush().durable);
    cache.set_budget(Bytes(0));
    cache.set_budget(Bytes(1 << 20));
    ASSERT_EQ(get(cache, 1), next) << round;
  }
}

TEST(ObjectThreads, WhatSeveralMissAtOnceIsMadeOnce) {
  ObjectRig rig;
  ObjectCache cache({.ram = Bytes(1 << 24)});
  std::barrier start(kThreads);
  std::array<std::atomic<int>, kKeys> times{};
  on_threads([&](int t) {
    std::mt19937 random(static_cast<uint32_t>(t));
    for (int round = 0; round < kKeys / 4; ++round) {
      start.arrive_and_wait();
      // Overlapping sets in other orders: nobody waits for a waiter.
      std::vector<int> numbers{
          4 * round, 4 * round + 1, 4 * round + 2, 4 * round + 3};
      std::ranges::shuffle(numbers, random);
      numbers.resize(3);
      std::vector<ObjectKey> keys;
      for (const int number : numbers) {
        keys.push_back(name_of(number));
      }
      const auto found =
          cache.get_or_make(keys, [&](std::span<const size_t> missing) {
            std::vector<int> mine;
            for (const size_t i : missing) {
              ++times[static_cast<size_t>(numbers[i])];
              mine.push_back(numbers[i]);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return made(cache, mine);
          });
      for (size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_EQ(text_of(*found[i]), value(numbers[i]));
      }
    }
  });
  for (const auto& count : times) {
    EXPECT_EQ(count, 1);
  }
  EXPECT_EQ(cache.stats().made, kKeys);
}

TEST(ObjectThreads, WhoWaitedForAMakerThatFailedMakesItHimself) {
  ObjectCache cache({.ram = Bytes(1 << 20)});
  std::barrier start(kThreads);
  std::atomic<int> tries{0};
  std::atomic<int> failed{0};
  const std::vector<ObjectKey> keys{name_of(1)};
  on_threads([&](int) {
    start.arrive_and_wait();
    try {
      const auto found = cache.get_or_make(keys, [&](std::span<const size_t>) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (++tries < 3) {
          throw std::runtime_error("no");
        }
        return made(cache, std::vector<int>{1});
      });
      EXPECT_EQ(text_of(*found[0]), value(1));
    } catch (const std::runtime_error&) {
      ++failed;
    }
  });
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(failed, 2);
}

void play(ObjectCache& cache, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<int, Object>> held;
  for (int move = 0; move < kMoves; ++move) {
    const int number = static_cast<int>(random() % kKeys);
    const std::vector<ObjectKey> keys{name_of(number), name_of(0)};
    std::optional<Object> found;
    switch (random() % 16) {
      case 0:
        std::ignore = cache.remove(name_of(number));
        break;
      case 1:
        cache.set_budget(Bytes(80000 + int64_t(random() % 4) * 40000));
        break;
      case 2:
        std::ignore = cache.flush();
        break;
      case 3:
        held.clear();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
        found = cache.get_or_make(keys, [&](std::span<const size_t> missing) {
          std::vector<int> mine;
          for (const size_t i : missing) {
            mine.push_back(i == 0 ? number : 0);
          }
          return made(cache, mine);
        })[0];
        break;
      default:
        found = cache.get(name_of(number));
    }
    if (found) {
      EXPECT_EQ(text_of(*found), value(number));
      held.emplace_back(number, *found);
      if (held.size() > 2) {
        held.erase(held.begin());
      }
    }
  }
  for (const auto& [number, object] : held) {
    EXPECT_EQ(text_of(object), value(number));
  }
}

TEST(ObjectThreads, NoValueIsTornAndNoSumIsWrong) {
  ObjectRig rig;
  rig.max_disk = Bytes(600000); // evicts too
  const auto disk = rig.open_disk();
  ObjectCacheOptions options = rig.over(disk, 200000);
  options.clock = system_clock();
  options.writers = 2;
  options.retry = std::chrono::milliseconds(1);
  {
    ObjectCache cache(options);
    on_threads([&](int t) { play(cache, 100 + static_cast<uint32_t>(t)); });
    std::ignore = cache.flush();
    const ObjectStats stats = cache.stats();
    EXPECT_EQ(stats.bytes, stats.kept); // nobody else holds any
    cache.set_budget(Bytes(0));
    EXPECT_EQ(cache.stats().bytes, Bytes(0));
    EXPECT_GT(stats.from_disk, 0);
    EXPECT_GT(stats.awaited + stats.made, 0);
  }
  EXPECT_EQ(disk->stats().value().leases, 0);
}

} // namespace
} // namespace holdfast::test
