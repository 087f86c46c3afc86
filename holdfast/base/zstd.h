// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes made smaller by zstd, and back. For files that leave the machine; what
// a tier maps is never packed. Any thread.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "holdfast/base/status.h"

namespace holdfast {

inline constexpr int kLeastZstdLevel = 1;
inline constexpr int kMostZstdLevel = 19;

/// One frame. Throws kInvalidArgument for another level.
std::vector<std::byte> zstd_packed(std::span<const std::byte> bytes, int level);

/// Fills `into`, whose size is what was packed; kCorrupt where the frame is
/// none, or holds more or less. Writes nothing outside.
Status zstd_unpack(std::span<const std::byte> frame, std::span<std::byte> into);

} // namespace holdfast
