// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/tier/flush_report.h"

namespace holdfast {

std::string FlushReport::text() const {
  const auto count = [](int64_t number) { return std::to_string(number); };
  std::string line = durable ? "durable: " : "not durable: ";
  line += count(flushed) + " saved";
  if (missing > 0) {
    line += ", " + count(missing) + " evicted, not on disk";
  }
  if (pending > missing) {
    line += ", " + count(pending - missing) + " not saved yet (" + count(late) +
        " put since)";
  }
  if (dropped_now > 0) {
    line += ", " + count(dropped_now) + " dropped";
  }
  if (failed_now > 0) {
    line += ", " + count(failed_now) + " failed";
  }
  line += ", " + count(elapsed_ms) + " ms";
  if (failure.empty() || (failed_now == 0 && pending <= missing)) {
    return line;
  }
  return line + ", last failure: " + failure;
}

} // namespace holdfast
