// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Filters of one value as a whole.

#include "holdfast/formats/jinja_filters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_compare.h"
#include "holdfast/formats/jinja_methods.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_print.h"
#include "holdfast/formats/jinja_subscript.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

/// The value as text, to work on.
std::string soft_text(const Value& value, Allowance& allowance) {
  if (value.is(Kind::kText)) {
    plain_text(value, "text");
  }
  return to_text(value, allowance);
}

template <std::string (*Change)(const std::string&)>
Value change_case(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "a filter of case", {}, 0);
  return Value(Change(soft_text(value, a)));
}

Value do_title(const Value& value, const Arguments& given, Allowance& a) {
  // Words begin after other characters than those of str.title().
  bind(given, "title", {}, 0);
  std::string text = lower(soft_text(value, a));
  bool begins = true;
  for (char& c : text) {
    if (begins) {
      c = upper(std::string(1, c))[0];
    }
    begins = std::string_view("-({[<").find(c) != std::string_view::npos ||
        is_space(static_cast<unsigned char>(c));
  }
  return Value(std::move(text));
}

Value do_trim(const Value& value, const Arguments& given, Allowance& a) {
  const Value* set = bind(given, "trim", {"chars"}, 0)[0];
  const std::string text = soft_text(value, a);
  if (set == nullptr || set->is(Kind::kNone)) {
    return Value(strip(text, Side::kBoth));
  }
  return Value(
      strip(text, Side::kBoth, plain_text(*set, "characters to trim")));
}

Value do_string(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "string", {}, 0);
  return value.is(Kind::kText) ? value : Value(to_text(value, a));
}

Value do_safe(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "safe", {}, 0);
  return Value(to_text(value, a), true);
}

Value do_default(const Value& value, const Arguments& given, Allowance&) {
  const auto bound = bind(given, "default", {"default_value", "boolean"}, 0);
  const bool falsy = bound[1] != nullptr && bound[1]->truth();
  if (value.is_undefined() || (falsy && !value.truth())) {
    return bound[0] != nullptr ? *bound[0] : Value("");
  }
  return value;
}

Value do_replace(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound = bind(given, "replace", {"old", "new", "count"}, 2);
  const bool counted = bound[2] != nullptr && !bound[2]->is(Kind::kNone);
  if (counted && !bound[2]->is_whole()) {
    refuse("a whole number of replacements", *bound[2]);
  }
  return Value(replace(
      to_text(value, a),
      {to_text(*bound[0], a), to_text(*bound[1], a)},
      counted ? bound[2]->integer() : -1,
      a));
}

Value do_length(const Value& value, const Arguments& given, Allowance& a) {
  bind(given, "length", {}, 0);
  return static_cast<int64_t>(length(value, a));
}

JsonStyle json_style(const Arguments& given, Allowance& a) {
  const auto bound = bind(
      given,
      "tojson",
      {"ensure_ascii", "indent", "separators", "sort_keys"},
      0);
  JsonStyle style;
  style.ascii = bound[0] != nullptr && bound[0]->truth();
  style.sort = bound[3] != nullptr && bound[3]->truth();
  if (bound[1] != nullptr && !bound[1]->is(Kind::kNone)) {
    style.item.resize(1); // no blank at a line's end
    style.indent = bound[1]->is(Kind::kText)
        ? bound[1]->text()
        : binary("*", Value(" "), *bound[1], a).text();
  }
  if (bound[2] != nullptr && !bound[2]->is(Kind::kNone)) {
    const auto parts = iterate(*bound[2], a);
    if (parts.size() != 2) {
      refuse("two separators", *bound[2]);
    }
    style.item = plain_text(parts[0], "a separator");
    style.key = plain_text(parts[1], "a separator");
  }
  return style;
}

Value do_tojson(const Value& value, const Arguments& given, Allowance& a) {
  return Value(to_json(value, json_style(given, a), a));
}

Value do_indent(const Value& value, const Arguments& given, Allowance& a) {
  const auto bound = bind(given, "indent", {"width", "first", "blank"}, 0);
  const Value width = bound[0] != nullptr ? *bound[0] : Value(4);
  const std::string indent = width.is(Kind::kText)
      ? width.text()
      : binary("*", Value(" "), width, a).text();
  const bool first = bound[1] != nullptr && bound[1]->truth();
  const bool blank = bound[2] != nullptr && bound[2]->truth();
  const auto lines =
      split_lines(plain_text(value, "text to indent") + "\n", false);
  std::string result = first ? indent : "";
  for (size_t i = 0; i < lines.size(); ++i) {
    a.make(1 + indent.size() + lines[i].size());
    result += i > 0 ? "\n" : "";
    result += i > 0 && (blank || !lines[i].empty()) ? indent : "";
    result += lines[i];
  }
  return Value(std::move(result));
}

std::optional<double> parse_float(std::string_view text) {
  text = strip(text, Side::kBoth);
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) {
    text.remove_prefix(1);
  }
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    throw Error(
        ErrorCode::kUnsupported, "expected a number that fits, got another");
  }
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

Value truncated(double number) {
  if (!(std::abs(number) < 0x1p63)) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected an integer of 64 bits, got a larger one");
  }
  return static_cast<int64_t>(number);
}

Value do_int(const Value& value, const Arguments& given, Allowance&) {
  const auto bound = bind(given, "int", {"default", "base"}, 0);
  if (bound[1] != nullptr && !equal(*bound[1], Value(10))) {
    throw Error(
        ErrorCode::kUnsupported, "expected base 10 for 'int', got another");
  }
  const Value other = bound[0] != nullptr ? *bound[0] : Value(0);
  if (value.is_number()) {
    return value.is_whole()          ? Value(value.integer())
        : std::isnan(value.number()) ? other
                                     : truncated(value.number());
  }
  if (!value.is(Kind::kText)) {
    return other;
  }
  std::string_view text = strip(value.text(), Side::kBoth);
  text.remove_prefix(
      text.starts_with('+') && !text.substr(1).starts_with('-') ? 1 : 0);
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    return number;
  }
  const auto real = parse_float(value.text());
  return real && std::isfinite(*real) ? truncated(*real) : other;
}

Value do_float(const Value& value, const Arguments& given, Allowance&) {
  const Value* other = bind(given, "float", {"default"}, 0)[0];
  if (value.is_number()) {
    return value.number();
  }
  if (value.is(Kind::kText)) {
    if (const auto number = parse_float(value.text())) {
      return *number;
    }
  }
  return other != nullptr ? *other : Value(0.0);
}

Value do_abs(const Value& value, const Arguments& given, Allowance&) {
  bind(given, "abs", {}, 0);
  const Value number = positive(value);
  return number.number() < 0 ? negative(number) : number;
}

/// round() to so many digits behind the point: what is printed correctly
/// rounded reads back as the nearest number.
double rounded(double value, int64_t digits) {
  char buffer[400];
  std::snprintf(
      buffer, sizeof(buffer), "%.*f", static_cast<int>(digits), value);
  return std::strtod(buffer, nullptr);
}

Value do_round(const Value& value, const Arguments& given, Allowance&) {
  const auto bound = bind(given, "round", {"precision", "method"}, 0);
  const int64_t digits = bound[0] == nullptr ? 0
      : bound[0]->is_whole()                 ? bound[0]->integer()
                                             : -1;
  const std::string method =
      bound[1] != nullptr ? plain_text(*bound[1], "a method") : "common";
  if (!value.is_number() || digits < 0 || digits > 15 ||
      (method != "common" && method != "ceil" && method != "floor")) {
    refuse("a number, 0 to 15 digits and a method that there is", value);
  }
  if (method == "common") {
    return value.is_whole() ? Value(value.integer())
                            : Value(rounded(value.number(), digits));
  }
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const double scaled = value.number() * scale;
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale;
}

Value do_attr(const Value& value, const Arguments& given, Allowance& a) {
  const Value& name = *bind(given, "attr", {"name"}, 1)[0];
  // Attributes alone, no items.
  const std::string& text = plain_text(name, "the name of an attribute");
  if (value.is(Kind::kNamespace)) {
    return attribute(value, text, a);
  }
  return has_attribute(value, text)
      ? method(value, text)
      : Value::undefined("an attribute that is not there");
}

constexpr std::pair<std::string_view, Filter> kFilters[] = {
    {"abs", do_abs},
    {"attr", do_attr},
    {"capitalize", change_case<capitalize>},
    {"count", do_length},
    {"d", do_default},
    {"default", do_default},
    {"float", do_float},
    {"indent", do_indent},
    {"int", do_int},
    {"length", do_length},
    {"lower", change_case<lower>},
    {"replace", do_replace},
    {"round", do_round},
    {"safe", do_safe},
    {"string", do_string},
    {"title", do_title},
    {"tojson", do_tojson},
    {"trim", do_trim},
    {"upper", change_case<upper>},
};

} // namespace

Filter value_filter(const std::string& name) {
  const auto at = std::ranges::find(
      kFilters, name, [](const auto& entry) { return entry.first; });
  return at != std::end(kFilters) ? at->second : nullptr;
}

bool has_filter(const std::string& name) {
  return value_filter(name) != nullptr || item_filter(name) != nullptr;
}

Value apply_filter(
    const std::string& name,
    const Value& value,
    const Arguments& arguments,
    Allowance& allowance) {
  allowance.step();
  Filter filter = value_filter(name);
  filter = filter != nullptr ? filter : item_filter(name);
  if (filter == nullptr) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected a filter that is read here, got '" + name + "'");
  }
  return filter(value, arguments, allowance);
}

} // namespace holdfast::jinja
