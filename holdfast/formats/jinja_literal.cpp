// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_literal.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

bool is_digit(char c, int base) {
  const int value = c >= '0' && c <= '9' ? c - '0'
      : c >= 'a' && c <= 'f'             ? c - 'a' + 10
      : c >= 'A' && c <= 'F'             ? c - 'A' + 10
                                         : 99;
  return value < base;
}

/// End of digits from `at` on, with single '_' between them; `at` where there
/// are none.
size_t digits_end(std::string_view text, size_t at, int base) {
  size_t end = at;
  while (end < text.size()) {
    const bool mark = text[end] == '_' && end > at;
    const size_t digit = end + (mark ? 1 : 0);
    if (digit >= text.size() || !is_digit(text[digit], base)) {
      break;
    }
    end = digit + 1;
  }
  return end;
}

/// 0 where no fraction or exponent follows: then it is an integer.
size_t float_length(std::string_view text) {
  const size_t whole = digits_end(text, 0, 10);
  size_t end = whole;
  if (end < text.size() && text[end] == '.') {
    const size_t fraction = digits_end(text, end + 1, 10);
    end = fraction > end + 1 ? fraction : end;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    size_t at = end + 1;
    at += at < text.size() && (text[at] == '+' || text[at] == '-') ? 1 : 0;
    const size_t exponent = digits_end(text, at, 10);
    end = exponent > at ? exponent : end;
  }
  return end > whole ? end : 0;
}

struct Whole {
  size_t begin = 0; // of the digits
  size_t end = 0;
  int base = 10;
};

Whole whole_part(std::string_view text) {
  if (text[0] == '0' && text.size() > 1) {
    const char mark = text[1];
    const int base = mark == 'b' || mark == 'B' ? 2
        : mark == 'o' || mark == 'O'            ? 8
        : mark == 'x' || mark == 'X'            ? 16
                                                : 10;
    // '_' may follow the mark.
    const size_t from = text.size() > 2 && text[2] == '_' ? 3 : 2;
    const size_t end = digits_end(text, from, base);
    if (base != 10 && end > from) {
      return {from, end, base};
    }
  }
  // A leading 0 is followed by zeros alone.
  return {0, digits_end(text, 0, text[0] == '0' ? 1 : 10), 10};
}

std::string without_marks(std::string_view text) {
  std::string result(text);
  std::erase(result, '_');
  return result;
}

/// Where the number of an escape ends, and its value.
struct Escaped {
  uint32_t code = 0;
  size_t end = 0;
};

Escaped escaped_number(std::string_view body, size_t at, size_t most) {
  const bool octal = most == 0;
  const int base = octal ? 8 : 16;
  const size_t limit = std::min(body.size(), at + (octal ? 3 : most));
  Escaped result{0, at};
  while (result.end < limit && is_digit(body[result.end], base)) {
    const char digit = body[result.end++];
    const int value = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
    result.code = result.code * static_cast<uint32_t>(base) +
        static_cast<uint32_t>(value);
  }
  return result;
}

/// Appends what the escape after the backslash at `at` means; returns its end.
size_t
unescape_one(std::string_view body, size_t at, int line, std::string& to) {
  constexpr std::string_view kNames = "\\'\"abfnrtv\n";
  constexpr std::string_view kMeanings("\\'\"\a\b\f\n\r\t\v");
  const char name = body[at + 1];
  if (const size_t index = kNames.find(name); index != kNames.npos) {
    to += kMeanings.substr(index, 1); // a line's end vanishes
    return at + 2;
  }
  if (name == 'N') {
    refuse_unsupported(line, "expected no named character (\\N), got one");
  }
  const size_t most = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
  if (most == 0 && !is_digit(name, 8)) {
    to += body.substr(at, 1);
    return at + 1;
  }
  const size_t from = at + (most > 0 ? 2 : 1);
  const Escaped number = escaped_number(body, from, most);
  if ((most > 0 && number.end != from + most) ||
      !append_utf8(number.code, to)) {
    refuse_syntax(
        line,
        "expected an escape that is a character, got " +
            std::string(body.substr(at, number.end - at)));
  }
  return number.end;
}

} // namespace

Token number_literal(std::string_view text, int line, size_t& length) {
  Token token;
  token.line = line;
  if (length = float_length(text); length > 0) {
    token.type = TokenType::kFloat;
    const std::string plain = without_marks(text.substr(0, length));
    const auto end = plain.data() + plain.size();
    // Python reads what is too large as infinity; nobody writes that.
    if (std::from_chars(plain.data(), end, token.number).ec != std::errc()) {
      refuse_unsupported(line, "expected a number that fits, got " + plain);
    }
    return token;
  }
  const Whole whole = whole_part(text);
  length = whole.end;
  token.type = TokenType::kInteger;
  const std::string plain =
      without_marks(text.substr(whole.begin, whole.end - whole.begin));
  const auto end = plain.data() + plain.size();
  if (std::from_chars(plain.data(), end, token.integer, whole.base).ec !=
      std::errc()) {
    refuse_unsupported(line, "expected an integer of 64 bits, got " + plain);
  }
  return token;
}

Token text_literal(std::string_view text, int line, size_t& length) {
  size_t end = 1;
  while (end < text.size() && text[end] != text[0]) {
    end += text[end] == '\\' ? 2 : 1;
  }
  if (end >= text.size()) {
    refuse_syntax(line, "expected the end of a quoted text, got none");
  }
  length = end + 1;
  const std::string_view body = text.substr(1, end - 1);
  Token token;
  token.type = TokenType::kText;
  token.line = line;
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      const size_t plain = std::min(body.find('\\', at), body.size());
      token.text += body.substr(at, plain - at);
      at = plain;
    } else {
      at = unescape_one(body, at, line, token.text);
    }
  }
  return token;
}

} // namespace holdfast::jinja
