// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/clock.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "holdfast/base/status.h"
#include "holdfast/env/manual_clock.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SystemClock, GoesOnAndKnowsTheYear) {
  const auto clock = system_clock();
  const auto first = clock->now();
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_GE(clock->now() - first, milliseconds(2));
  EXPECT_GT(clock->wall_ns(), 1'600'000'000'000'000'000) << "after 2020";
}

TEST(SystemClock, WaitsUntilTheMomentOrANotice) {
  const auto clock = system_clock();
  std::mutex mutex;
  std::condition_variable wake;
  std::unique_lock lock(mutex);
  const auto until = clock->now() + milliseconds(5);
  while (clock->now() < until) {
    clock->wait_until(lock, wake, until);
  }
  bool told = false;
  std::thread other([&] {
    const std::lock_guard hold(mutex);
    told = true;
    wake.notify_all();
  });
  while (!told) {
    clock->wait_until(lock, wake, Clock::Moment::max());
  }
  other.join();
}

TEST(ManualClock, StandsStillUntilItIsAdvanced) {
  ManualClock clock;
  const auto now = clock.now();
  const int64_t wall = clock.wall_ns();
  std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(clock.now(), now);
  EXPECT_EQ(clock.wall_ns(), wall);
  clock.advance(seconds(3));
  EXPECT_EQ(clock.now() - now, seconds(3));
  EXPECT_EQ(clock.wall_ns() - wall, 3'000'000'000);
  EXPECT_THROW(clock.advance(seconds(-1)), Error);
}

TEST(ManualClock, LetsTheWallJumpAlone) {
  ManualClock clock;
  const auto now = clock.now();
  clock.set_wall_ns(42);
  EXPECT_EQ(clock.wall_ns(), 42);
  clock.set_wall_ns(-1);
  EXPECT_EQ(clock.wall_ns(), -1);
  EXPECT_EQ(clock.now(), now);
}

TEST(ManualClock, WakesWhoseTimeHasComeAndNoOther) {
  ManualClock clock;
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  std::atomic<int> woken{0};
  const auto wait = [&](Clock::Moment until) {
    std::unique_lock lock(mutex);
    while (clock.now() < until && !stop) {
      clock.wait_until(lock, wake, until);
    }
    ++woken;
  };
  std::thread early(wait, clock.now() + seconds(1));
  std::thread late(wait, clock.now() + seconds(100));
  ASSERT_TRUE(clock.await_waiters(2));
  EXPECT_EQ(woken, 0);
  clock.advance(seconds(1));
  early.join();
  EXPECT_EQ(woken, 1);
  {
    const std::lock_guard hold(mutex);
    stop = true;
    wake.notify_all();
  }
  late.join();
  EXPECT_EQ(woken, 2);
}

} // namespace
} // namespace holdfast
