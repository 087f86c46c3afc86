// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_print.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

void append_hex(uint32_t code, int digits, std::string& to) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    to += "0123456789abcdef"[code >> shift & 15];
  }
}

/// repr() of a text: in '"' where it holds ''' alone.
void append_quoted(std::string_view text, std::string& to) {
  const bool doubled =
      text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = doubled ? '"' : '\'';
  to += quote;
  while (!text.empty()) {
    size_t length = 0;
    const uint32_t code = first_code(text, length);
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      to += '\\';
      to += text[0];
    } else if (code == '\n' || code == '\r' || code == '\t') {
      to += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    } else if (code == ' ' || is_printable(code)) {
      to += text.substr(0, length);
    } else if (code < 0x100) {
      to += "\\x";
      append_hex(code, 2, to);
    } else if (code < 0x10000) {
      to += "\\u";
      append_hex(code, 4, to);
    } else {
      to += "\\U";
      append_hex(code, 8, to);
    }
    text.remove_prefix(length);
  }
  to += quote;
}

class Printer {
 public:
  explicit Printer(Allowance& allowance) : allowance_(allowance) {}

  void value(const Value& value) {
    const size_t before = text_.size();
    switch (value.kind()) {
      case Kind::kUndefined:
        text_ += "Undefined";
        break;
      case Kind::kNone:
        text_ += "None";
        break;
      case Kind::kBool:
        text_ += value.boolean() ? "True" : "False";
        break;
      case Kind::kInteger:
        text_ += std::to_string(value.integer());
        break;
      case Kind::kFloat:
        text_ += float_text(value.number());
        break;
      case Kind::kText:
        append_quoted(value.text(), text_);
        break;
      case Kind::kSequence:
        sequence(value);
        return;
      case Kind::kDict:
        dict(value.dict());
        return;
      default:
        refuse("a value that has a text", value);
    }
    allowance_.make(text_.size() - before);
  }

  std::string take() {
    return std::move(text_);
  }

 private:
  void sequence(const Value& value) {
    const Sequence& sequence = value.seq();
    const bool tuple = sequence.kind == SequenceKind::kTuple;
    if (!tuple && sequence.kind != SequenceKind::kList) {
      refuse("a list, tuple or dict to print", value);
    }
    allowance_.make(2 + 2 * sequence.items.size());
    text_ += tuple ? '(' : '[';
    for (size_t i = 0; i < sequence.items.size(); ++i) {
      text_ += i > 0 ? ", " : "";
      this->value(sequence.items[i]);
    }
    text_ += tuple && sequence.items.size() == 1 ? "," : "";
    text_ += tuple ? ')' : ']';
  }

  void dict(const Dict& dict) {
    allowance_.make(2 + 4 * dict.items.size());
    text_ += '{';
    for (size_t i = 0; i < dict.items.size(); ++i) {
      text_ += i > 0 ? ", " : "";
      value(dict.items[i].first);
      text_ += ": ";
      value(dict.items[i].second);
    }
    text_ += '}';
  }

  Allowance& allowance_;
  std::string text_;
};

} // namespace

std::string float_text(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  // The shortest digits that read back: d.ddde+XX.
  char buffer[32];
  const auto end =
      std::to_chars(
          buffer, buffer + sizeof(buffer), value, std::chars_format::scientific)
          .ptr;
  std::string text(buffer, end);
  const size_t mark = text.find('e');
  const int exponent = std::stoi(text.substr(mark + 1));
  if (exponent < -4 || exponent >= 16) {
    return text;
  }
  const std::string sign = text[0] == '-' ? "-" : "";
  std::string digits;
  for (const char c : text.substr(0, mark)) {
    digits += c >= '0' && c <= '9' ? std::string(1, c) : "";
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') +
        digits;
  }
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  }
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string to_text(const Value& value, Allowance& allowance) {
  if (value.is_undefined()) {
    return "";
  }
  if (value.is(Kind::kText)) {
    allowance.make(value.text().size());
    return value.text();
  }
  Printer printer(allowance);
  printer.value(value);
  return printer.take();
}

} // namespace holdfast::jinja
