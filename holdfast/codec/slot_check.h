// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every codec checks: heads it does not store, and each encode and decode
// before it touches a plane. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/base/check.h"
#include "holdfast/base/status.h"
#include "holdfast/block/layout.h"

namespace holdfast {

/// kUnsupported: `codec` stores heads that are `expected`, and `fits` says
/// which codec stores this one.
inline Status head_refusal(
    const std::string& codec,
    const std::string& expected,
    int64_t head_dim,
    std::string_view fits) {
  return Status(
      ErrorCode::kUnsupported,
      std::string("[").append(codec) + "] expected a head size that is a " +
          expected + ", got " + std::to_string(head_dim) + "; " +
          std::string(fits) + " fits");
}

/// Tokens of a head: their slots and how many planes the caller passed.
struct SlotAccess {
  int64_t slot;
  size_t planes;
  int64_t count = 1;
};

/// Throws where the codec does not support the head, kInvalidArgument where a
/// slot or the number of planes is wrong.
inline void expect_slot(
    const char* where,
    const Status& supported,
    const SlotAccess& access,
    size_t planes) {
  supported.check();
  const bool inside = access.slot >= 0 && access.slot < kBlockTokens &&
      access.count >= 0 && access.count <= kBlockTokens - access.slot;
  if (!inside || access.planes != planes) [[unlikely]] {
    throw Error(
        ErrorCode::kInvalidArgument,
        std::string("[") + where + "] expected slots below " +
            std::to_string(kBlockTokens) +
            " and planes: " + std::to_string(planes) +
            ", got slots: " + std::to_string(access.count) + " from " +
            std::to_string(access.slot) +
            " and planes: " + std::to_string(access.planes));
  }
}

} // namespace holdfast
