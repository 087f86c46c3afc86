// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A clock that goes where tests put it. Threads: any.
//
// Who waits looks at the time every half millisecond: a clock that notified
// would have to keep hold of conditions and mutexes that are not its own.

#pragma once

#include "holdfast/env/clock.h"

namespace holdfast {

class ManualClock : public Clock {
 public:
  Moment now() const override;
  int64_t wall_ns() const override;
  void wait_until(
      std::unique_lock<std::mutex>& lock,
      std::condition_variable& wake,
      Moment until) override;

  /// Moves both times on, by no less than 0, and wakes whose time has come.
  void advance(Duration by);
  /// Lets the wall's time jump, there or back; now() stays.
  void set_wall_ns(int64_t wall_ns);
  /// Returns when this many threads wait, so that a test does not advance
  /// before they do. False after ten seconds of the system's time.
  bool await_waiters(int count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable counted_;
  Moment now_{};
  int64_t wall_ns_ = 1'700'000'000'000'000'000; // in November 2023
  int waiters_ = 0;
};

} // namespace holdfast
