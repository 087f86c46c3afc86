// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Standard output without a buffer, so that text streams and a closed pipe
// shows at once; and on standard error messages and a progress line.
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::app {

/// Writes all of it; waits for a reader where standard output does not block.
/// Throws Error (kIo) where it is closed or full.
void write_out(std::string_view text);

/// What a terminal may get of text that others made (a file's names may hold
/// anything): control characters show as '?', what is no UTF-8 as U+FFFD.
std::string printable(std::string_view text);

/// One line "holdfast: <text>" on standard error, made printable.
void complain(std::string_view text);

/// A line on standard error that overwrites itself; silent where that is no
/// terminal. The line is gone when it is destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(int64_t done, int64_t total);
  /// Until the next update.
  void clear();

 private:
  const std::string what_;
  const bool terminal_;
  int64_t percent_ = -1; // shown; -1: nothing
};

} // namespace holdfast::app
