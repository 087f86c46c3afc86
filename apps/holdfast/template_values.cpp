// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "template_values.h"

#include <limits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "errors.h"

namespace holdfast::app {

namespace {

using Ordered = nlohmann::ordered_json;
using jinja::Value;

Value value_of(const Ordered& json, int depth) {
  if (depth > Value::kMostDepth) {
    throw UserError(
        "expected values nested at most " + std::to_string(Value::kMostDepth) +
        " deep, got one more");
  }
  switch (json.type()) {
    case Ordered::value_t::null:
      return {};
    case Ordered::value_t::boolean:
      return json.get<bool>();
    case Ordered::value_t::number_unsigned:
      if (json.get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        throw UserError("expected numbers of 64 bits, got " + json.dump());
      }
      return json.get<int64_t>();
    case Ordered::value_t::number_integer:
      return json.get<int64_t>();
    case Ordered::value_t::number_float:
      return json.get<double>();
    case Ordered::value_t::string:
      return json.get<std::string>();
    case Ordered::value_t::array: {
      std::vector<Value> items;
      for (const Ordered& item : json) {
        items.push_back(value_of(item, depth + 1));
      }
      return Value::list(std::move(items));
    }
    default: {
      std::vector<std::pair<Value, Value>> items;
      for (const auto& [key, item] : json.items()) {
        items.emplace_back(Value(key), value_of(item, depth + 1));
      }
      return Value::dict(std::move(items));
    }
  }
}

} // namespace

jinja::Variables
template_variables(const std::string& json, const std::string& where) {
  const auto parsed = Ordered::parse(json, nullptr, false);
  if (!parsed.is_object()) {
    throw UserError(where + ": expected a JSON object, got something else");
  }
  jinja::Variables variables;
  for (const auto& [name, value] : parsed.items()) {
    variables.emplace_back(name, value_of(value, 1));
  }
  return variables;
}

} // namespace holdfast::app
