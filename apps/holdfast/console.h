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

/// Writes all of it. Throws Error (kIo) where standard output is closed or
/// full.
void write_out(std::string_view text);

/// One line "holdfast: <text>" on standard error; control characters of `text`
/// (a file's names may hold any) show as '?'.
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
