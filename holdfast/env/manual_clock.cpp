// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/manual_clock.h"

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

constexpr std::chrono::microseconds kLook{500};
constexpr std::chrono::seconds kPatience{10};

} // namespace

Clock::Moment ManualClock::now() const {
  const std::lock_guard hold(mutex_);
  return now_;
}

int64_t ManualClock::wall_ns() const {
  const std::lock_guard hold(mutex_);
  return wall_ns_;
}

void ManualClock::wait_until(
    std::unique_lock<std::mutex>& lock,
    std::condition_variable& wake,
    Moment until) {
  const auto count = [this](int by) {
    const std::lock_guard hold(mutex_);
    waiters_ += by;
    counted_.notify_all();
  };
  count(1);
  while (now() < until &&
         wake.wait_for(lock, kLook) == std::cv_status::timeout) {
  }
  count(-1);
}

void ManualClock::advance(Duration by) {
  expect(
      by >= Duration(0),
      "[ManualClock] expected a time that goes on, got one that goes back");
  const std::lock_guard hold(mutex_);
  now_ += by;
  wall_ns_ += by.count();
}

void ManualClock::set_wall_ns(int64_t wall_ns) {
  const std::lock_guard hold(mutex_);
  wall_ns_ = wall_ns;
}

bool ManualClock::await_waiters(int count) const {
  std::unique_lock hold(mutex_);
  return counted_.wait_for(hold, kPatience, [&] { return waiters_ >= count; });
}

} // namespace holdfast
