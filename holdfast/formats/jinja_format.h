// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// str.format() of fields that are named or counted alone: "{}", "{0}",
// "{name}", "{{". Any thread.

#pragma once

#include <string_view>

#include "holdfast/formats/jinja_callable.h"

namespace holdfast::jinja {

/// kInvalidArgument where python would raise; kUnsupported for a field with an
/// attribute, an item, a conversion or a format of its own.
Value format_text(
    std::string_view text,
    const Arguments& arguments,
    Allowance& allowance);

} // namespace holdfast::jinja
