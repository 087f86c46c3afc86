// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The clock of measurements. Any thread.

#pragma once

#include <chrono>

namespace holdfast::measure {

/// Since some moment.
inline double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Seconds that a call takes.
template <class F>
double time_of(F call) {
  const double start = seconds();
  call();
  return seconds() - start;
}

} // namespace holdfast::measure
