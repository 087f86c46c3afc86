// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Time, so that tests may set it. Any thread.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace holdfast {

class Clock {
 public:
  using Duration = std::chrono::nanoseconds;
  /// Since a moment of the process; never goes back.
  using Moment = std::chrono::time_point<Clock, Duration>;

  virtual ~Clock() = default;
  virtual Moment now() const = 0;
  /// Nanoseconds since 1970, UTC, as the system believes: it may jump.
  virtual int64_t wall_ns() const = 0;
  /// Waits on `wake` until it is notified (or spuriously), at most until
  /// `until`. `lock` holds the mutex that belongs to `wake`.
  virtual void wait_until(
      std::unique_lock<std::mutex>& lock,
      std::condition_variable& wake,
      Moment until) = 0;
};

/// The system's.
std::shared_ptr<Clock> system_clock();

} // namespace holdfast
