// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C (SIGINT) and SIGTERM as a flag: the first one asks to finish, a second
// one of its kind kills.
// One object at a time.

#pragma once

#include <atomic>

namespace holdfast::app {

class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& raised() const;
  /// 128 + the signal's number, or kOk where none came.
  int exit_code() const;
};

} // namespace holdfast::app
