// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "process_clock.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include <time.h>
#include <unistd.h>

namespace holdfast::app {

namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point kBegun = Clock::now();

/// What passed between the process's start and kBegun: /proc/self/stat field 22
/// is the start in clock ticks after boot.
double milliseconds_before() {
  const double since =
      std::chrono::duration<double, std::milli>(Clock::now() - kBegun).count();
  std::ifstream file("/proc/self/stat");
  const std::string text(
      (std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t after_name = text.rfind(')'); // the name may hold anything
  timespec now = {};
  if (after_name == std::string::npos ||
      clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
    return 0;
  }
  std::istringstream fields(text.substr(after_name + 1));
  std::string skipped;
  double ticks = -1;
  for (int i = 3; i < 22; ++i) {
    fields >> skipped;
  }
  fields >> ticks;
  const double started =
      1e3 * ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double age = 1e3 * static_cast<double>(now.tv_sec) +
      1e-6 * static_cast<double>(now.tv_nsec) - started;
  // A clock that disagrees (a container's own boot time) is not believed.
  return fields && age >= since && age - since < 5000 ? age - since : 0;
}

} // namespace

double process_milliseconds() {
  static const double before = milliseconds_before();
  return before +
      std::chrono::duration<double, std::milli>(Clock::now() - kBegun).count();
}

} // namespace holdfast::app
