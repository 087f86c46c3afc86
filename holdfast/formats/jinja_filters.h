// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Filters (`value | name(...)`) and tests (`value is name(...)`) by name.
// docs/templates.md lists them. Any thread.

#pragma once

#include <string>

#include "holdfast/formats/jinja_callable.h"
#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

/// Throw kUnsupported for a name that is not read here, and kInvalidArgument
/// where python raises.
Value apply_filter(
    const std::string& name,
    const Value& value,
    const Arguments& arguments,
    Allowance& allowance);
bool apply_test(
    const std::string& name,
    const Value& value,
    const Arguments& arguments,
    Allowance& allowance);

bool has_filter(const std::string& name);
bool has_test(const std::string& name);

using Filter =
    Value (*)(const Value& value, const Arguments& given, Allowance& allowance);

/// Null where there is none of that name. Of one value as a whole; of its
/// items.
Filter value_filter(const std::string& name);
Filter item_filter(const std::string& name);

} // namespace holdfast::jinja
