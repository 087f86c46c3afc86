// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The image of a row's last block, where the row does not fill it: what Chains
// hands out to be made blank behind the row's positions. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "holdfast/base/strong.h"

namespace holdfast {

struct TailImage {
  int64_t group = 0;
  int64_t phase = 0;
  std::byte* image = nullptr; // of the group in that phase; nobody else's
  Position committed; // of the row: those behind them are no one's
};

/// Makes what lies behind the committed positions the same in every image of
/// that group and phase, whatever was there.
using TailBlanker = std::function<void(const TailImage&)>;

} // namespace holdfast
