// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Python's comparisons of values. Throw kInvalidArgument where python raises.
// Any thread.

#pragma once

#include <string_view>

#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

class Allowance;

/// `a == b`. Numbers by value, bool and integer alike; a generator equals
/// itself alone.
bool equal(const Value& a, const Value& b);

/// -1, 0 or 1 for `a < b`, `a == b`, `a > b` of numbers, texts, lists or
/// tuples; 2 where a NaN is neither.
int order(const Value& a, const Value& b);

/// `a operation b` for == != < <= > >= in, not in.
bool compare(
    std::string_view operation,
    const Value& a,
    const Value& b,
    Allowance& allowance);

/// `item in container`.
bool contains(const Value& container, const Value& item, Allowance& allowance);

} // namespace holdfast::jinja
