// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every encode and decode checks before it touches a plane. Any thread.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/base/check.h"
#include "holdfast/block/layout.h"

namespace holdfast {

/// A token of a head: its slot and how many planes the caller passed.
struct SlotAccess {
  int64_t slot;
  size_t planes;
};

/// Throws where the codec does not support the head, kInvalidArgument where the
/// slot or the number of planes is wrong.
inline void expect_slot(
    const char* where,
    const Status& supported,
    const SlotAccess& access,
    size_t planes) {
  supported.check();
  if (access.slot < 0 || access.slot >= kBlockTokens || access.planes != planes)
      [[unlikely]] {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[") + where + "] expected a slot below " +
            std::to_string(kBlockTokens) +
            " and planes: " + std::to_string(planes) + ", got slot " +
            std::to_string(access.slot) +
            " and planes: " + std::to_string(access.planes));
  }
}

} // namespace holdfast
