// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Python's arithmetic on values. Integers have 64 bits: what needs more is
// refused (kUnsupported), as is text that `safe` marked, which python's markup
// would escape. Throw kInvalidArgument where python raises. Any thread.

#pragma once

#include <string_view>

#include "holdfast/formats/jinja_allowance.h"
#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

/// `a operation b` for + - * / // % **.
Value binary(
    std::string_view operation,
    const Value& a,
    const Value& b,
    Allowance& allowance);

Value negative(const Value& value);
Value positive(const Value& value);

/// The text of a value that is text and not marked.
const std::string& plain_text(const Value& value, const char* what);

} // namespace holdfast::jinja
