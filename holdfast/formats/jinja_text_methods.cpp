// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Methods of texts: case, search, replacement, and their table. Splitting is in
// jinja_split.cpp.

#include <algorithm>
#include <string_view>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_format.h"
#include "holdfast/formats/jinja_methods.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_split.h"
#include "holdfast/formats/jinja_subscript.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

void require_ascii(const std::string& text) {
  if (!is_ascii(text)) {
    throw Error(
        ErrorCode::kUnsupported,
        "expected ASCII text to ask for or change the case of, got another "
        "letter");
  }
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
char to_upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 32) : c;
}
char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c + 32) : c;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string title(const std::string& text) {
  require_ascii(text);
  std::string result = text;
  bool inside = false; // of a word
  for (char& c : result) {
    c = inside ? to_lower(c) : to_upper(c);
    inside = is_upper(c) || is_lower(c);
  }
  return result;
}

bool is_class(const std::string& text, const std::string& name) {
  if (name == "isspace") {
    return !text.empty() && leading_spaces(text) == text.size();
  }
  require_ascii(text);
  if (name == "islower" || name == "isupper") {
    const bool lower = name == "islower";
    return std::ranges::any_of(text, lower ? is_lower : is_upper) &&
        std::ranges::none_of(text, lower ? is_upper : is_lower);
  }
  const bool digits = name != "isalpha";
  const bool letters = name == "isalpha" || name == "isalnum";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (digits && is_digit(c)) || (letters && (is_upper(c) || is_lower(c)));
  });
}

/// `startswith` and `endswith`, also of one in a tuple.
bool matches(const std::string& text, const Value& wanted, bool start) {
  if (wanted.is_sequence(SequenceKind::kTuple)) {
    return std::ranges::any_of(wanted.seq().items, [&](const Value& one) {
      return matches(text, one, start);
    });
  }
  const std::string& part = plain_text(wanted, "text to look for");
  return start ? text.starts_with(part) : text.ends_with(part);
}

Value search(
    const std::string& text,
    const std::string& name,
    const std::string& part) {
  const bool last = name[0] == 'r';
  const size_t at = last ? text.rfind(part) : text.find(part);
  if (at == text.npos && name.ends_with("index")) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "expected a part of the text to find, got another");
  }
  return at == text.npos ? Value(-1)
                         : Value(static_cast<int64_t>(count_characters(
                               std::string_view(text).substr(0, at))));
}

int64_t occurrences(const std::string& text, const std::string& part) {
  if (part.empty()) {
    return static_cast<int64_t>(count_characters(text)) + 1;
  }
  int64_t count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

std::string padded(
    const std::string& text,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance) {
  const bool zeros = name == "zfill";
  const auto given = bind(arguments, name, {"width", "fillchar"}, 1);
  const std::string fill = zeros ? "0"
      : given[1] == nullptr      ? " "
                                 : plain_text(*given[1], "text to fill with");
  if (!given[0]->is_whole() || count_characters(fill) != 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "expected a width and one character to fill with, got something else");
  }
  const auto size = static_cast<int64_t>(count_characters(text));
  const int64_t room = std::max<int64_t>(0, given[0]->integer() - size);
  // center() puts the odd one left where the width is odd.
  const int64_t half = room / 2 + (room & given[0]->integer() & 1);
  const int64_t before = name == "ljust" ? 0 : name == "center" ? half : room;
  const auto filling = [&](int64_t count) {
    return binary("*", Value(fill), Value(count), allowance).text();
  };
  const bool sign =
      zeros && !text.empty() && (text[0] == '-' || text[0] == '+');
  return (sign ? text.substr(0, 1) : "") + filling(before) +
      text.substr(sign ? 1 : 0) + filling(room - before);
}

Value join(
    const std::string& between,
    const Value& parts,
    Allowance& allowance) {
  std::string result;
  bool first = true;
  for (const Value& part : iterate(parts, allowance)) {
    const std::string& text = plain_text(part, "texts to join");
    allowance.make(between.size() + text.size());
    result += first ? "" : between;
    result += text;
    first = false;
  }
  return Value(std::move(result));
}

std::string without_end(
    const std::string& text,
    const std::string& name,
    const std::string& part) {
  if (name == "removeprefix") {
    return text.starts_with(part) ? text.substr(part.size()) : text;
  }
  return text.ends_with(part) ? text.substr(0, text.size() - part.size())
                              : text;
}

Value strip_side(
    const std::string& text,
    const std::string& name,
    const Arguments& arguments) {
  const Side side = name == "strip" ? Side::kBoth
      : name == "lstrip"            ? Side::kLeft
                                    : Side::kRight;
  const Value* set = bind(arguments, name, {"chars"}, 0)[0];
  if (set == nullptr || set->is(Kind::kNone)) {
    return Value(strip(text, side));
  }
  return Value(strip(text, side, plain_text(*set, "characters to strip")));
}

/// What takes one text: found by `name` or nothing.
bool takes_one_text(const std::string& name) {
  return name == "find" || name == "rfind" || name == "index" ||
      name == "rindex" || name == "count" || name == "removeprefix" ||
      name == "removesuffix";
}

Value with_text(
    const std::string& self,
    const std::string& name,
    const std::string& part) {
  if (name == "count") {
    return occurrences(self, part);
  }
  return name.starts_with("remove") ? Value(without_end(self, name, part))
                                    : search(self, name, part);
}

} // namespace

std::string upper(const std::string& text) {
  require_ascii(text);
  std::string result = text;
  std::ranges::transform(result, result.begin(), to_upper);
  return result;
}

std::string lower(const std::string& text) {
  require_ascii(text);
  std::string result = text;
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

std::string capitalize(const std::string& text) {
  std::string result = lower(text);
  if (!result.empty()) {
    result[0] = to_upper(result[0]);
  }
  return result;
}

std::string replace(
    const std::string& text,
    const std::pair<std::string, std::string>& old_and_new,
    int64_t most,
    Allowance& allowance) {
  const auto& [old, fresh] = old_and_new;
  std::string result;
  size_t at = 0;
  for (int64_t done = 0; most < 0 || done < most; ++done) {
    const size_t found = text.find(old, at);
    if (found == text.npos) {
      break;
    }
    allowance.make(fresh.size() + found - at);
    result.append(text, at, found - at);
    result += fresh;
    at = found + old.size();
    if (old.empty()) {
      if (at == text.size()) {
        return result;
      }
      const size_t one =
          byte_of(std::string_view(text).substr(at), 1); // a character
      result.append(text, at, one);
      at += one;
    }
  }
  allowance.make(text.size() - at);
  return result + text.substr(at);
}

Value text_method(
    const std::string& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance) {
  allowance.make(self.size()); // what most of them make, or walk
  if (name == "upper" || name == "lower" || name == "capitalize" ||
      name == "title") {
    bind(arguments, name, {}, 0);
    return name == "upper" ? upper(self)
        : name == "lower"  ? lower(self)
        : name == "title"  ? title(self)
                           : capitalize(self);
  }
  if (name.ends_with("strip")) {
    return strip_side(self, name, arguments);
  }
  if (name == "isspace" || name == "islower" || name == "isupper" ||
      name == "isdigit" || name == "isalpha" || name == "isalnum") {
    bind(arguments, name, {}, 0);
    return is_class(self, name);
  }
  if (name == "startswith" || name == "endswith") {
    const auto given = bind(arguments, name, {"text"}, 1);
    return matches(self, *given[0], name == "startswith");
  }
  if (takes_one_text(name)) {
    const auto given = bind(arguments, name, {"text"}, 1);
    return with_text(self, name, plain_text(*given[0], "text to look for"));
  }
  if (name == "replace") {
    const auto given = bind(arguments, name, {"old", "new", "count"}, 2);
    return replace(
        self,
        {plain_text(*given[0], "text to replace"),
         plain_text(*given[1], "text to put in")},
        given[2] != nullptr && given[2]->is_whole() ? given[2]->integer() : -1,
        allowance);
  }
  if (name == "format") {
    return format_text(self, arguments, allowance);
  }
  if (name == "join") {
    return join(self, *bind(arguments, name, {"parts"}, 1)[0], allowance);
  }
  if (name == "center" || name == "ljust" || name == "rjust" ||
      name == "zfill") {
    return padded(self, name, arguments, allowance);
  }
  return split_method(self, name, arguments, allowance);
}

} // namespace holdfast::jinja
