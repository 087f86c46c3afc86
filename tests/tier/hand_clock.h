// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A clock that a test moves, and one that runs. Any thread.

#pragma once

#include <atomic>
#include <chrono>

#include "holdfast/env/clock.h"

namespace holdfast::tier_test {

class HandClock : public Clock {
 public:
  Moment now() const override {
    return Moment(Duration(now_.load()));
  }
  int64_t wall_ns() const override {
    return now_.load();
  }
  /// Wakes often, as it may: nobody tells it when time moves.
  void wait_until(
      std::unique_lock<std::mutex>& lock,
      std::condition_variable& wake,
      Moment until) override {
    if (now() < until) {
      wake.wait_for(lock, std::chrono::milliseconds(1));
    }
  }
  void advance(Duration time) {
    now_ += time.count();
  }

 private:
  std::atomic<int64_t> now_{int64_t{1} << 40};
};

class RunningClock : public Clock {
 public:
  Moment now() const override {
    return Moment(std::chrono::steady_clock::now().time_since_epoch());
  }
  int64_t wall_ns() const override {
    return now().time_since_epoch().count();
  }
  void wait_until(
      std::unique_lock<std::mutex>& lock,
      std::condition_variable& wake,
      Moment until) override {
    wake.wait_for(lock, until - now());
  }
};

} // namespace holdfast::tier_test
