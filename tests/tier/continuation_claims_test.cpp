// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Claims of keys whose last job has ended.

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tier/checkpoint_fakes.h"

namespace holdfast {
namespace {

using tier_test::checkpoint;
using tier_test::ContinuationRig;

// Giving a claim back takes the lock of a folder that other processes hold.
TEST(ContinuationClaims, AreGivenBackWithNoLockHeld) {
  ContinuationRig rig;
  std::vector<std::thread> asking;
  bool answered = false;
  rig.store.during_release = [&] {
    const auto done = std::make_shared<std::promise<void>>();
    asking.emplace_back([&rig, done] {
      rig.continuations.stats();
      done->set_value();
    });
    answered = done->get_future().wait_for(std::chrono::seconds(20)) ==
        std::future_status::ready;
  };
  const auto expect_answered = [&](const char* when) {
    EXPECT_TRUE(std::exchange(answered, false)) << when;
  };
  { const Continuation attempt = rig.begin("k"); }
  expect_answered("released");
  rig.begin("k").checkpoint(checkpoint(1));
  rig.continuations.flush();
  expect_answered("written");
  rig.begin("k").complete();
  rig.continuations.flush();
  expect_answered("removed");
  EXPECT_EQ(rig.store.claims(), 0);
  for (std::thread& each : asking) {
    each.join();
  }
}

// While it is given back the key is nobody's and still claimed.
TEST(ContinuationClaims, ThatAreBeingGivenBackAreWaitedForByTheNextAttempt) {
  ContinuationRig rig;
  std::optional<Continuation> first = rig.begin("k");
  std::optional<Result<Continuation>> second;
  std::thread other;
  rig.store.during_release = [&] {
    rig.store.during_release = nullptr;
    {
      const std::lock_guard lock(rig.store.mutex());
      rig.store.elsewhere.insert("k"); // as its lock file says
    }
    std::promise<void> begun;
    other = std::thread([&] {
      begun.set_value();
      second = rig.continuations.begin("k");
    });
    begun.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::lock_guard lock(rig.store.mutex());
    rig.store.elsewhere.clear();
  };
  first.reset();
  other.join();
  ASSERT_TRUE(second->ok()) << second->status().text();
  EXPECT_TRUE(second->value().current());
}

} // namespace
} // namespace holdfast
