// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a queue has to say of one class of jobs, or of all. Values; any thread.

#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "holdfast/base/strong.h"
#include "holdfast/env/clock.h"
#include "holdfast/tier/spill_job.h"

namespace holdfast {

struct SpillStats {
  // Now.
  int64_t pending = 0; // waiting or running: they hold their references
  int64_t running = 0;
  Bytes pending_bytes;
  // Since the queue was made.
  Bytes peak_bytes; // the most that was pending at once
  int64_t done = 0;
  int64_t failed = 0;
  int64_t cancelled = 0; // by a predicate, or withdrawn while waiting for room
  std::array<int64_t, kDropReasons> dropped_by{}; // by DropReason
  // Backpressure: submitters that waited for room.
  int64_t waits = 0;
  Clock::Duration waited{};
  Clock::Duration longest_wait{};

  int64_t dropped() const {
    return std::accumulate(dropped_by.begin(), dropped_by.end(), int64_t{0});
  }
};

/// All of both; peaks and longest waits are the larger of the two.
SpillStats operator+(const SpillStats& a, const SpillStats& b);

} // namespace holdfast
