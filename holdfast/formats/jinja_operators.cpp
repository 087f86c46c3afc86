// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_operators.h"

#include <cmath>
#include <limits>

#include "holdfast/base/status.h"

namespace holdfast::jinja {

namespace {

void require_fits(bool fits) {
  if (!fits) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected an integer of 64 bits, got a larger one");
  }
}

void require_divisor(bool zero) {
  if (zero) {
    throw Error(ErrorCode::kInvalidArgument, "expected a divisor, got zero");
  }
}

/// Rounds down, as python does.
int64_t floor_quotient(int64_t a, int64_t b) {
  require_fits(a != std::numeric_limits<int64_t>::min() || b != -1);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) {
    return 0;
  }
  const int64_t remainder = a % b;
  return remainder + (remainder != 0 && (remainder < 0) != (b < 0) ? b : 0);
}

double floor_remainder(double a, double b) {
  double remainder = std::fmod(a, b);
  if (remainder == 0) {
    return std::copysign(0.0, b);
  }
  return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

double floor_quotient(double a, double b) {
  const double exact = (a - floor_remainder(a, b)) / b;
  if (exact == 0) {
    return std::copysign(0.0, a / b);
  }
  const double floor = std::floor(exact);
  return exact - floor > 0.5 ? floor + 1 : floor;
}

int64_t power(int64_t base, int64_t exponent, Allowance& allowance) {
  int64_t result = 1;
  // 1, 0 and -1 stay small for ever; others end within 64 rounds.
  for (int64_t i = 0; i < exponent; ++i) {
    allowance.step();
    require_fits(!__builtin_mul_overflow(result, base, &result));
  }
  return result;
}

Value whole(
    std::string_view operation,
    int64_t a,
    int64_t b,
    Allowance& allowance) {
  int64_t result = 0;
  if (operation == "+") {
    require_fits(!__builtin_add_overflow(a, b, &result));
    return result;
  }
  if (operation == "-") {
    require_fits(!__builtin_sub_overflow(a, b, &result));
    return result;
  }
  if (operation == "*") {
    require_fits(!__builtin_mul_overflow(a, b, &result));
    return result;
  }
  if (operation == "**" && b >= 0) {
    return power(a, b, allowance);
  }
  require_divisor(operation == "**" ? a == 0 : b == 0);
  if (operation == "/") {
    return static_cast<double>(a) / static_cast<double>(b);
  }
  if (operation == "//") {
    return floor_quotient(a, b);
  }
  if (operation == "%") {
    return floor_remainder(a, b);
  }
  return std::pow(static_cast<double>(a), static_cast<double>(b));
}

Value real(std::string_view operation, double a, double b) {
  if (operation == "+") {
    return a + b;
  }
  if (operation == "-") {
    return a - b;
  }
  if (operation == "*") {
    return a * b;
  }
  if (operation == "**") {
    const double result = std::pow(a, b);
    if ((a == 0 && b < 0) || (std::isnan(result) && !std::isnan(a + b)) ||
        (std::isinf(result) && std::isfinite(a) && std::isfinite(b))) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "expected a power that is a number, got none");
    }
    return result;
  }
  require_divisor(b == 0);
  return operation == "/" ? a / b
      : operation == "//" ? floor_quotient(a, b)
                          : floor_remainder(a, b);
}

bool is_list_or_tuple(const Value& value) {
  return value.is_sequence(SequenceKind::kList) ||
      value.is_sequence(SequenceKind::kTuple);
}

Value joined(const Value& a, const Value& b, Allowance& allowance) {
  std::vector<Value> items = a.seq().items;
  items.insert(items.end(), b.seq().items.begin(), b.seq().items.end());
  allowance.make(kItemBytes * items.size());
  return Value::sequence(a.seq().kind, std::move(items));
}

Value repeated(const Value& value, int64_t count, Allowance& allowance) {
  const auto times = static_cast<size_t>(count > 0 ? count : 0);
  const bool text = value.is(Kind::kText);
  const size_t one = text ? plain_text(value, "text to repeat").size()
                          : kItemBytes * value.seq().items.size();
  size_t bytes = 0;
  if (__builtin_mul_overflow(one, times, &bytes)) {
    bytes = std::numeric_limits<size_t>::max();
  }
  allowance.make(bytes);
  if (text) {
    std::string result;
    result.reserve(bytes);
    for (size_t i = 0; i < times && one > 0; ++i) {
      result += value.text();
    }
    return Value(std::move(result));
  }
  std::vector<Value> items;
  for (size_t i = 0; i < times && one > 0; ++i) {
    items.insert(
        items.end(), value.seq().items.begin(), value.seq().items.end());
  }
  return Value::sequence(value.seq().kind, std::move(items));
}

[[noreturn]] void
refuse_operands(std::string_view operation, const Value& a, const Value& b) {
  refuse(
      std::string("an operand that ") +
          (a.is_undefined() ? b.type_name() : a.type_name()) + " " +
          std::string(operation) + " takes",
      a.is_undefined() ? a : b);
}

/// As markupsafe's escape().
std::string escaped(const std::string& text, Allowance& allowance) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '"':
        result += "&#34;";
        break;
      default:
        result += c;
    }
  }
  allowance.make(result.size());
  return result;
}

/// Text that is safe stays so, and escapes what it is added to.
Value text_and_text(const Value& a, const Value& b, Allowance& allowance) {
  allowance.make(a.text().size() + b.text().size());
  if (a.is_safe() == b.is_safe()) {
    return Value(a.text() + b.text(), a.is_safe());
  }
  return a.is_safe() ? Value(a.text() + escaped(b.text(), allowance), true)
                     : Value(escaped(a.text(), allowance) + b.text(), true);
}

} // namespace

const std::string& plain_text(const Value& value, const char* what) {
  if (!value.is(Kind::kText)) {
    refuse(what, value);
  }
  if (value.is_safe()) {
    throw Error(
        ErrorCode::kUnsupported,
        std::string("expected ") + what +
            ", got text marked by `safe`, which would be escaped");
  }
  return value.text();
}

Value binary(
    std::string_view operation,
    const Value& a,
    const Value& b,
    Allowance& allowance) {
  if (a.is_whole() && b.is_whole()) {
    return whole(operation, a.integer(), b.integer(), allowance);
  }
  if (a.is_number() && b.is_number()) {
    return real(operation, a.number(), b.number());
  }
  if (operation == "+" && a.is(Kind::kText) && b.is(Kind::kText)) {
    return text_and_text(a, b, allowance);
  }
  if (operation == "+" && is_list_or_tuple(a) && is_list_or_tuple(b) &&
      a.seq().kind == b.seq().kind) {
    return joined(a, b, allowance);
  }
  if (operation == "*") {
    for (const auto& [value, count] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      if (count->is_whole() &&
          (value->is(Kind::kText) || is_list_or_tuple(*value))) {
        return repeated(*value, count->integer(), allowance);
      }
    }
  }
  if (operation == "%" && a.is(Kind::kText)) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected numbers for %, got text, whose format is not read here");
  }
  refuse_operands(operation, a, b);
}

Value negative(const Value& value) {
  if (value.is_whole()) {
    int64_t result = 0;
    require_fits(!__builtin_sub_overflow(0, value.integer(), &result));
    return result;
  }
  if (!value.is_number()) {
    refuse("a number", value);
  }
  return -value.number();
}

Value positive(const Value& value) {
  if (value.is_whole()) {
    return value.integer();
  }
  if (!value.is_number()) {
    refuse("a number", value);
  }
  return value;
}

} // namespace holdfast::jinja
