// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a template can call, and what it is called with. One render, one thread.

#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/formats/jinja_allowance.h"
#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

struct Callable {
  std::string name;
  Extent extent = {}; // of the value that a method is bound to
  std::function<Value(const Arguments&, Allowance&)> call;
};

/// The arguments in the order of these parameters; null where one was left out.
/// Throws kInvalidArgument where one of the first `required` is missing, is
/// given twice, or is unknown.
std::vector<const Value*> bind(
    const Arguments& arguments,
    const std::string& who,
    std::initializer_list<const char*> names,
    size_t required);

} // namespace holdfast::jinja
