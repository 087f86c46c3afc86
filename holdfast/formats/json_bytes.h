// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every reader of JSON asks of the bytes before the parser sees them, and
// the parse event by event of those that keep but a part of a document.
// Stateless; any thread.

#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "holdfast/base/status.h"

namespace holdfast {

/// Throws Error where the bytes hold a NUL: "<where>: expected JSON, got a NUL
/// at byte N". The parser would take it for the end, and what follows for
/// nothing.
void require_no_nul(
    std::string_view bytes,
    std::string_view where,
    ErrorCode code = ErrorCode::kCorrupt);

/// Gives the events of a whole document, in its order, after require_no_nul().
/// Throws what `events` throws; it hears of bytes that are no JSON too.
void read_json(
    std::string_view bytes,
    std::string_view where,
    nlohmann::json_sax<nlohmann::json>& events);

} // namespace holdfast
