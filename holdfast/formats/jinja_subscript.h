// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Parts of values: attributes, items, slices, iteration. What is not there is
// undefined; a part of something undefined is refused (kInvalidArgument). Any
// thread.

#pragma once

#include <string>
#include <vector>

#include "holdfast/formats/jinja_allowance.h"
#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

/// `value.name`: a method before an item of that name.
Value attribute(
    const Value& value,
    const std::string& name,
    Allowance& allowance);

/// `value[key]`: an item before a method of that name.
Value item(const Value& value, const Value& key, Allowance& allowance);

/// `value[start:stop:step]`; null: left out.
struct SliceBounds {
  const Value* start = nullptr;
  const Value* stop = nullptr;
  const Value* step = nullptr;
};
Value slice(
    const Value& value,
    const SliceBounds& bounds,
    Allowance& allowance);

/// What a loop over the value sees: items, keys of a dict, characters of a
/// text; of a generator what nobody has read yet.
std::vector<Value> iterate(const Value& value, Allowance& allowance);

/// len(value).
size_t length(const Value& value, Allowance& allowance);

/// What an index means in that many items; -1 where it is outside.
int64_t place(int64_t index, size_t count);

} // namespace holdfast::jinja
