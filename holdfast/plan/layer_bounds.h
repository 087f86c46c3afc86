// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How large the numbers of a layer may be, so that no sum of positions and no
// size of an image or an output overflows. Any thread.

#pragma once

#include <cstdint>

#include "holdfast/plan/layer_spec.h"
#include "holdfast/rows/chain.h"

namespace holdfast {

inline constexpr int64_t kMaxHeads = int64_t{1} << 16;
inline constexpr int64_t kMaxHeadDim = int64_t{1} << 16;

/// Windows and sinks count positions.
inline bool in_range(const Visibility& visibility) {
  const auto within = [](int64_t positions) {
    return positions >= 0 && positions <= kMaxPositions.get();
  };
  return within(visibility.window) && within(visibility.sinks);
}

} // namespace holdfast
