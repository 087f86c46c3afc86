// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/spill_stats.h"

#include <algorithm>

namespace holdfast {

SpillStats operator+(const SpillStats& a, const SpillStats& b) {
  SpillStats sum = a;
  sum.pending += b.pending;
  sum.running += b.running;
  sum.pending_bytes += b.pending_bytes;
  sum.peak_bytes = std::max(a.peak_bytes, b.peak_bytes);
  sum.done += b.done;
  sum.failed += b.failed;
  sum.cancelled += b.cancelled;
  for (size_t i = 0; i < kDropReasons; ++i) {
    sum.dropped_by[i] += b.dropped_by[i];
  }
  sum.waits += b.waits;
  sum.waited += b.waited;
  sum.longest_wait = std::max(a.longest_wait, b.longest_wait);
  return sum;
}

} // namespace holdfast
