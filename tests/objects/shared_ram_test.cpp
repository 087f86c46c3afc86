// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One budget for two caches of objects: the sum binds, the least loss leaves,
// what is in use stays, and a refusal changes nothing.

#include "holdfast/objects/shared_ram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/code_of.h"
#include "tests/objects/object_rig.h"

namespace holdfast::test {
namespace {

constexpr int64_t kSize = 4096;

std::string value(int number) {
  return value_of(number, 0, kSize);
}

/// Two caches and the budget that they share, of so many objects.
struct Two {
  explicit Two(int64_t objects)
      : ram(std::make_shared<SharedRam>(Bytes(objects * kSize))),
        first({.shared_ram = ram}),
        second({.shared_ram = ram}) {}

  Bytes sum() const {
    return first.stats().bytes + second.stats().bytes;
  }

  std::shared_ptr<SharedRam> ram;
  ObjectCache first;
  ObjectCache second;
};

TEST(SharedRam, TheSumOfTwoCachesIsWithinTheLimitWhateverTheyDo) {
  Two two(16);
  std::mt19937 random(1);
  std::vector<Object> held;
  int64_t refused = 0;
  for (int i = 0; i < 4000; ++i) {
    ObjectCache& cache = random() % 2 ? two.first : two.second;
    const auto size = static_cast<int64_t>(16 + random() % (3 * kSize));
    try {
      const Object object =
          put(cache, static_cast<int>(random() % 40), value_of(i, 0, size));
      if (random() % 4 == 0) {
        held.push_back(object);
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kOutOfBudget) << error.what();
      ++refused;
    }
    if (held.size() > 6 || random() % 16 == 0) {
      held.clear();
    }
    ASSERT_LE(two.sum(), two.ram->limit());
    ASSERT_EQ(two.sum(), two.ram->used());
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(two.first.stats().lost, 100);
  EXPECT_GT(two.second.stats().lost, 100);
}

TEST(SharedRam, TheOldestLeavesWhosesoeverItIs) {
  Two two(8);
  for (int number = 0; number < 4; ++number) {
    put(two.first, number, value(number));
    put(two.second, number, value(number));
  }
  put(two.second, 4, value(4)); // pushes out the first of the first
  EXPECT_EQ(get(two.first, 0), "");
  EXPECT_EQ(two.second.stats().objects, 5);
  for (int number = 1; number < 4; ++number) { // used: now the second's are old
    EXPECT_EQ(get(two.first, number), value(number));
  }
  put(two.first, 5, value(5));
  EXPECT_EQ(get(two.second, 0), "");
  EXPECT_EQ(get(two.second, 1), value(1));
  EXPECT_EQ(two.first.stats().objects, 4);
}

TEST(SharedRam, WhatIsDearToMakeStaysBeforeWhatIsNewer) {
  Two two(2);
  two.first.put(name_of(1), open_with(two.first, value(1)), 1000 * kSize);
  put(two.second, 1, value(1)); // a nanosecond a byte
  put(two.second, 2, value(2));
  EXPECT_EQ(get(two.second, 1), "");
  EXPECT_EQ(get(two.first, 1), value(1));
}

TEST(SharedRam, WhatIsInUseIsNotPushedOutAndARefusalChangesNothing) {
  Two two(8);
  std::vector<Object> held;
  for (int number = 0; number < 5; ++number) {
    held.push_back(put(two.first, number, value(number)));
  }
  for (int number = 5; number < 8; ++number) {
    put(number % 2 ? two.first : two.second, number, value(number));
  }
  // Four do not fit beside five that are held, though three might leave.
  EXPECT_EQ(
      code_of([&] { two.second.open(Bytes(4 * kSize)); }),
      ErrorCode::kOutOfBudget);
  EXPECT_EQ(two.first.stats().objects, 7);
  EXPECT_EQ(two.second.stats().objects, 1);
  EXPECT_EQ(two.first.stats().lost + two.second.stats().lost, 0);
  EXPECT_EQ(two.second.stats().no_room, 1);
  // Three do.
  const OpenObject open = two.second.open(Bytes(3 * kSize));
  EXPECT_EQ(two.first.stats().objects, 5);
  EXPECT_EQ(two.second.stats().objects, 0);
  EXPECT_EQ(two.sum(), two.ram->limit());
  for (int number = 0; number < 5; ++number) {
    EXPECT_EQ(get(two.first, number), value(number));
  }
}

TEST(SharedRam, WhatIsHeldCountsThoughItsCacheBeGone) {
  const auto ram = std::make_shared<SharedRam>(Bytes(2 * kSize));
  ObjectCache cache({.shared_ram = ram});
  Object held;
  {
    ObjectCache gone({.shared_ram = ram});
    held = put(gone, 1, value(1));
    put(gone, 2, value(2));
    EXPECT_EQ(ram->used(), Bytes(2 * kSize));
  }
  EXPECT_EQ(ram->used(), Bytes(kSize));
  EXPECT_EQ(text_of(held), value(1));
  EXPECT_EQ(
      code_of([&] { cache.open(Bytes(2 * kSize)); }), ErrorCode::kOutOfBudget);
  held = {};
  EXPECT_EQ(ram->used(), Bytes(0));
  EXPECT_TRUE(cache.open(Bytes(2 * kSize)));
}

TEST(SharedRam, ALowerLimitBindsAtOnceAndForWhatIsInUseWhenThatEnds) {
  Two two(8);
  std::vector<Object> held;
  for (int number = 0; number < 4; ++number) {
    held.push_back(put(two.first, number, value(number)));
    put(two.second, number, value(number));
  }
  two.ram->set_limit(Bytes(2 * kSize));
  EXPECT_EQ(two.second.stats().objects, 0);
  EXPECT_EQ(two.sum(), Bytes(4 * kSize)); // all that is held
  EXPECT_EQ(
      code_of([&] { two.second.open(Bytes(64)); }), ErrorCode::kOutOfBudget);
  held.clear();
  put(two.second, 9, value(9));
  EXPECT_LE(two.sum(), Bytes(2 * kSize));
  two.ram->set_limit(Bytes(6 * kSize));
  EXPECT_TRUE(two.first.open(Bytes(4 * kSize)));
}

/// A cache of bytes, and the least part that it ever had since `from`.
class PlainUser : public RamUser {
 public:
  PlainUser(SharedRam& ram, double pressure) : ram_(ram), pressure_(pressure) {
    ram_.join(*this);
  }
  ~PlainUser() override {
    ram_.leave(*this);
    ram_.give_back(part);
  }
  PlainUser(const PlainUser&) = delete;
  PlainUser& operator=(const PlainUser&) = delete;

  Bytes unused() override {
    return part - used;
  }
  Bytes may_leave(Bytes most) override {
    return std::min(most, used);
  }
  std::optional<LeavingRam> next_to_leave(uint64_t) override {
    return used > Bytes(0) ? std::optional<LeavingRam>({used, pressure_})
                           : std::nullopt;
  }
  Bytes give(Bytes wanted, From from) override {
    if (from == From::kEntries) {
      let_go(std::max(wanted - unused(), Bytes(0)));
    }
    const Bytes given = std::clamp(unused(), Bytes(0), wanted);
    part -= given;
    least = std::min(least, part);
    return given;
  }
  Bytes let_go(Bytes wanted) override {
    const Bytes gone = std::min(wanted, used);
    used -= gone;
    return gone;
  }
  void take(Bytes more) override {
    part += more;
  }

  Bytes part;
  Bytes used;
  Bytes least;

 private:
  SharedRam& ram_;
  const double pressure_;
};

// Other threads of the same cache count on its part without asking.
TEST(SharedRam, NeverTakesOfAnAskersPartThatOthersOfItsThreadsUse) {
  constexpr Bytes kPart(int64_t{8} << 20);
  constexpr Bytes kUsed(int64_t{6} << 20);
  constexpr Bytes kRoom(int64_t{4} << 20); // of which it has a half
  constexpr Bytes kHalf(int64_t{2} << 20);
  for (const SharedRam::Ask how :
       {SharedRam::Ask::kWhole, SharedRam::Ask::kFromOthers}) {
    for (const double pressure : {1.0, 3.0}) { // the other's is 2
      SharedRam ram(kPart + kPart);
      PlainUser asker(ram, pressure);
      PlainUser other(ram, 2.0);
      ASSERT_TRUE(ram.ask(asker, kPart, how));
      ASSERT_TRUE(ram.ask(other, kPart, how));
      asker.used = kUsed;
      other.used = kPart;
      asker.least = asker.part;
      const bool got = ram.ask(asker, kRoom, how);
      EXPECT_EQ(asker.least, kPart);
      EXPECT_LE(asker.part + other.part, ram.limit());
      EXPECT_EQ(got, asker.unused() >= kRoom);
      const bool own_first = pressure > 2;
      EXPECT_EQ(got, how == SharedRam::Ask::kWhole || !own_first);
      EXPECT_EQ(asker.used, own_first && got ? kUsed - kHalf : kUsed);
      EXPECT_EQ(other.used, own_first ? kPart : kPart - kHalf);
    }
  }
}

TEST(SharedRam, IsNotAskedForMoreThanThereIsNorLess) {
  const auto ram = std::make_shared<SharedRam>(Bytes(kSize));
  ObjectCache cache({.shared_ram = ram});
  EXPECT_EQ(
      code_of([&] { cache.set_budget(Bytes(1)); }),
      ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] { ram->set_limit(Bytes(-1)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([] { SharedRam less(Bytes(-1)); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      code_of([&] { cache.open(Bytes(kSize + 1)); }), ErrorCode::kOutOfBudget);
  EXPECT_EQ(ram->limit(), Bytes(kSize));
}

TEST(SharedRam, ManyThreadsOfTwoCachesStayWithinIt) {
  Two two(12);
  std::vector<std::thread> threads;
  std::atomic<bool> above{false};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(static_cast<uint32_t>(thread));
      for (int i = 0; i < 400; ++i) {
        ObjectCache& cache = random() % 2 ? two.first : two.second;
        const int number = static_cast<int>(random() % 20);
        try {
          put(cache, number, value(number));
        } catch (const Error& error) {
          above = above || error.code() != ErrorCode::kOutOfBudget;
        }
        // Exact at any instant: parts are within the limit.
        above = above || two.ram->used() > two.ram->limit();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(above);
  EXPECT_EQ(two.sum(), two.ram->used());
  EXPECT_LE(two.sum(), two.ram->limit());
}

} // namespace
} // namespace holdfast::test
