// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tests of values.

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_compare.h"
#include "holdfast/formats/jinja_filters.h"
#include "holdfast/formats/jinja_methods.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_print.h"

namespace holdfast::jinja {

namespace {

/// Without arguments.
using Test = bool (*)(const Value& value);

bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is(Kind::kText) ||
      value.is(Kind::kSequence) || value.is(Kind::kDict);
}

bool is_indexed(const Value& value) {
  return is_iterable(value) && !value.is_sequence(SequenceKind::kView) &&
      !value.is_sequence(SequenceKind::kGenerator);
}

bool remainder_is(const Value& value, const Value& divisor, int wanted) {
  Allowance none(Limits{});
  return equal(binary("%", value, divisor, none), Value(wanted));
}

constexpr std::pair<std::string_view, Test> kPlain[] = {
    {"boolean", [](const Value& v) { return v.is(Kind::kBool); }},
    {"callable", [](const Value& v) { return v.is(Kind::kCallable); }},
    {"defined", [](const Value& v) { return !v.is_undefined(); }},
    {"even", [](const Value& v) { return remainder_is(v, Value(2), 0); }},
    {"false", [](const Value& v) { return v.is(Kind::kBool) && !v.boolean(); }},
    {"float", [](const Value& v) { return v.is(Kind::kFloat); }},
    {"integer", [](const Value& v) { return v.is(Kind::kInteger); }},
    {"iterable", is_iterable},
    {"mapping", [](const Value& v) { return v.is(Kind::kDict); }},
    {"none", [](const Value& v) { return v.is(Kind::kNone); }},
    {"number", [](const Value& v) { return v.is_number(); }},
    {"odd", [](const Value& v) { return remainder_is(v, Value(2), 1); }},
    {"sequence", is_indexed},
    {"string", [](const Value& v) { return v.is(Kind::kText); }},
    {"true", [](const Value& v) { return v.is(Kind::kBool) && v.boolean(); }},
    {"undefined", [](const Value& v) { return v.is_undefined(); }},
};

/// With one argument: names of comparisons, and the rest.
constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
    {"!=", "!="},
    {"<", "<"},
    {"<=", "<="},
    {"==", "=="},
    {">", ">"},
    {">=", ">="},
    {"eq", "=="},
    {"equalto", "=="},
    {"ge", ">="},
    {"greaterthan", ">"},
    {"gt", ">"},
    {"le", "<="},
    {"lessthan", "<"},
    {"lt", "<"},
    {"ne", "!="},
};

constexpr std::string_view kOthers[] =
    {"divisibleby", "filter", "in", "lower", "sameas", "test", "upper"};

Test plain_test(const std::string& name) {
  const auto at = std::ranges::find(
      kPlain, name, [](const auto& entry) { return entry.first; });
  return at != std::end(kPlain) ? at->second : nullptr;
}

bool compare_values(
    std::string_view operation,
    const Value& a,
    const Value& b) {
  if (operation == "==" || operation == "!=") {
    return equal(a, b) == (operation == "==");
  }
  const int result = order(a, b);
  return operation == "<" ? result == -1
      : operation == "<=" ? result == -1 || result == 0
      : operation == ">"  ? result == 1
                          : result == 1 || result == 0;
}

bool is_cased(const Value& value, const char* method, Allowance& allowance) {
  return text_method(to_text(value, allowance), method, {}, allowance)
      .boolean();
}

bool other_test(
    const std::string& name,
    const Value& value,
    const Arguments& arguments,
    Allowance& allowance) {
  if (name == "lower" || name == "upper") {
    bind(arguments, name, {}, 0);
    return is_cased(value, name == "lower" ? "islower" : "isupper", allowance);
  }
  if (name == "filter" || name == "test") {
    bind(arguments, name, {}, 0);
    const std::string& asked = plain_text(value, "a name");
    return name == "filter" ? has_filter(asked) : has_test(asked);
  }
  const Value& other = *bind(arguments, name, {"other"}, 1)[0];
  if (name == "in") {
    return contains(other, value, allowance);
  }
  if (name == "sameas") {
    return value.same(other);
  }
  return remainder_is(value, other, 0);
}

} // namespace

bool compare(
    std::string_view operation,
    const Value& a,
    const Value& b,
    Allowance& allowance) {
  if (operation == "in" || operation == "not in") {
    return contains(b, a, allowance) == (operation == "in");
  }
  allowance.step(std::min(a.extent().values, b.extent().values));
  return compare_values(operation, a, b);
}

bool has_test(const std::string& name) {
  return plain_test(name) != nullptr ||
      std::ranges::any_of(
             kComparisons,
             [&](const auto& one) { return one.first == name; }) ||
      std::ranges::find(kOthers, name) != std::end(kOthers);
}

bool apply_test(
    const std::string& name,
    const Value& value,
    const Arguments& arguments,
    Allowance& allowance) {
  allowance.step();
  if (const Test test = plain_test(name)) {
    bind(arguments, name, {}, 0);
    return test(value);
  }
  for (const auto& [known, operation] : kComparisons) {
    if (known == name) {
      const Value& other = *bind(arguments, name, {"other"}, 1)[0];
      return compare(operation, value, other, allowance);
    }
  }
  if (!has_test(name)) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected a test that is read here, got '" + name + "'");
  }
  return other_test(name, value, arguments, allowance);
}

} // namespace holdfast::jinja
