// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The two ways to complain: expect() for a caller's mistake, ensure() for a
// broken invariant of ours. Both throw Error; neither aborts. Any thread.

#pragma once

#include <string>

#include "holdfast/base/status.h"

namespace holdfast {

/// Throws Error(code, text) unless `condition`. Text: "[where] expected ...,
/// got ...". Build costly texts behind an `if` instead.
inline void expect(
    bool condition,
    const char* text,
    ErrorCode code = ErrorCode::kInvalidArgument) {
  if (!condition) [[unlikely]] {
    throw Error(code, text);
  }
}

inline void ensure(bool condition, const char* text) {
  expect(condition, text, ErrorCode::kInternal);
}

} // namespace holdfast
