// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/env/clock.h"

namespace holdfast {

namespace {

class SystemClock : public Clock {
 public:
  Moment now() const override {
    return Moment(std::chrono::steady_clock::now().time_since_epoch());
  }
  int64_t wall_ns() const override {
    return std::chrono::duration_cast<Duration>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  void wait_until(
      std::unique_lock<std::mutex>& lock,
      std::condition_variable& wake,
      Moment until) override {
    wake.wait_until(
        lock, std::chrono::steady_clock::time_point(until.time_since_epoch()));
  }
};

} // namespace

std::shared_ptr<Clock> system_clock() {
  static const auto instance = std::make_shared<SystemClock>();
  return instance;
}

} // namespace holdfast
