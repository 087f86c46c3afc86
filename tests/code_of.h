// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a call throws, as a code. Any thread.

#pragma once

#include "holdfast/base/status.h"

namespace holdfast {

/// kOk where it throws no Error.
inline ErrorCode code_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kOk;
}

} // namespace holdfast
