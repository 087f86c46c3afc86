// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Values as text: python's str(), repr() and json.dumps(). Throw
// kInvalidArgument for what has no text that is the same in every run
// (functions, generators, namespaces). Any thread.

#pragma once

#include <optional>
#include <string>

#include "holdfast/formats/jinja_allowance.h"
#include "holdfast/formats/jinja_value.h"

namespace holdfast::jinja {

/// str(value); an undefined value is nothing.
std::string to_text(const Value& value, Allowance& allowance);

/// repr() of a float.
std::string float_text(double value);

struct JsonStyle {
  bool ascii = false; // other characters as \uXXXX
  std::optional<std::string> indent; // of one level; without: one line
  std::string item = ", "; // with indent: ","
  std::string key = ": ";
  bool sort = false;
};

std::string
to_json(const Value& value, const JsonStyle& style, Allowance& allowance);

} // namespace holdfast::jinja
