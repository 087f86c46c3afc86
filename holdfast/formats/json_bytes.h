// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every reader of JSON asks of the bytes before the parser sees them.
// Stateless; any thread.

#pragma once

#include <string_view>

#include "holdfast/base/status.h"

namespace holdfast {

/// Throws Error where the bytes hold a NUL: "<where>: expected JSON, got a NUL
/// at byte N". The parser would take it for the end, and what follows for
/// nothing.
void require_no_nul(
    std::string_view bytes,
    std::string_view where,
    ErrorCode code = ErrorCode::kCorrupt);

} // namespace holdfast
