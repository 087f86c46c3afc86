// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/jinja_compare.h"
#include "holdfast/formats/jinja_print.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Allowance& allowance)
      : style_(style), allowance_(allowance) {}

  void value(const Value& value) {
    const size_t before = text_.size();
    switch (value.kind()) {
      case Kind::kText:
        quoted(value.text());
        break;
      case Kind::kSequence:
        sequence(value);
        return;
      case Kind::kDict:
        dict(value.dict());
        return;
      default:
        text_ += plain(value);
    }
    allowance_.make(text_.size() - before);
  }

  std::string take() {
    return std::move(text_);
  }

 private:
  /// Of what is neither text nor container.
  static std::string plain(const Value& value) {
    switch (value.kind()) {
      case Kind::kNone:
        return "null";
      case Kind::kBool:
        return value.boolean() ? "true" : "false";
      case Kind::kInteger:
        return std::to_string(value.integer());
      case Kind::kFloat: {
        const double number = value.number();
        return std::isnan(number) ? "NaN"
            : std::isinf(number)  ? (number > 0 ? "Infinity" : "-Infinity")
                                  : float_text(number);
      }
      default:
        refuse("a value that JSON has", value);
    }
  }

  void escape(uint32_t unit) {
    text_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      text_ += "0123456789abcdef"[unit >> shift & 15];
    }
  }

  void quoted(std::string_view text) {
    constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f";
    constexpr std::string_view kNames = "\"\\nrtbf";
    text_ += '"';
    while (!text.empty()) {
      size_t length = 0;
      const uint32_t code = first_code(text, length);
      const size_t name = kEscaped.find(text[0]);
      if (name != kEscaped.npos) {
        text_ += '\\';
        text_ += kNames[name];
      } else if (code < 0x20) {
        escape(code);
      } else if (code < 0x7f || !style_.ascii) {
        text_ += text.substr(0, length);
      } else if (code >= 0x10000) {
        escape(0xd800 + ((code - 0x10000) >> 10));
        escape(0xdc00 + ((code - 0x10000) & 0x3ff));
      } else if (code == 0x7f) {
        text_ += text[0];
      } else {
        escape(code);
      }
      text.remove_prefix(length);
    }
    text_ += '"';
  }

  /// The line's end and the blanks before an item, or before the bracket that
  /// closes.
  void new_line() {
    if (style_.indent) {
      allowance_.make(1 + level_ * style_.indent->size());
      text_ += '\n';
      for (size_t i = 0; i < level_; ++i) {
        text_ += *style_.indent;
      }
    }
  }

  template <class Items, class Write>
  void items(const char* brackets, const Items& items, Write write) {
    allowance_.make(2);
    text_ += brackets[0];
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      allowance_.make(style_.item.size());
      text_ += i > 0 ? style_.item : "";
      new_line();
      write(items[i]);
    }
    --level_;
    if (!items.empty()) {
      new_line();
    }
    text_ += brackets[1];
  }

  void sequence(const Value& value) {
    const Sequence& sequence = value.seq();
    if (sequence.kind != SequenceKind::kList &&
        sequence.kind != SequenceKind::kTuple) {
      refuse("a value that JSON has", value);
    }
    items(
        "[]", sequence.items, [this](const Value& item) { this->value(item); });
  }

  void dict(const Dict& dict) {
    std::vector<std::pair<Value, Value>> sorted = dict.items;
    if (style_.sort) {
      allowance_.step(16 * sorted.size());
      std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
        return order(a.first, b.first) < 0;
      });
    }
    items("{}", sorted, [this](const auto& item) {
      quoted(
          item.first.is(Kind::kText) ? item.first.text() : plain(item.first));
      text_ += style_.key;
      allowance_.make(
          style_.key.size() +
          (item.first.is(Kind::kText) ? item.first.text().size() : 8));
      value(item.second);
    });
  }

  const JsonStyle& style_;
  Allowance& allowance_;
  std::string text_;
  size_t level_ = 0;
};

} // namespace

std::string
to_json(const Value& value, const JsonStyle& style, Allowance& allowance) {
  JsonWriter writer(style, allowance);
  writer.value(value);
  return writer.take();
}

} // namespace holdfast::jinja
