// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers that a process gives out once each, so that a name from before never
// means what came later. Any thread.

#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast {

/// 1 or more.
inline uint64_t next_generation() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

} // namespace holdfast
