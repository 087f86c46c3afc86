// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A 128-bit key. A hint of equality, never a proof. Immutable value; any
// thread.

#pragma once

#include <compare>
#include <cstdint>

namespace holdfast {

struct Key128 {
  uint64_t high = 0;
  uint64_t low = 0;
  constexpr auto operator<=>(const Key128&) const = default;
};

} // namespace holdfast
