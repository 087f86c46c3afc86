// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C as a flag: the first one asks to finish, the second one kills.
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
};

} // namespace holdfast::app
