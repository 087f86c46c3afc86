// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_split.h"

#include <algorithm>
#include <string_view>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_methods.h"
#include "holdfast/formats/jinja_operators.h"
#include "holdfast/formats/jinja_text.h"

namespace holdfast::jinja {

namespace {

using Parts = std::vector<std::string_view>;

bool ends_line(uint32_t code) {
  return (code >= 0x0a && code <= 0x0d) || (code >= 0x1c && code <= 0x1e) ||
      code == 0x85 || code == 0x2028 || code == 0x2029;
}

/// Bytes up to the first white space.
size_t word_length(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t length = 0;
    if (is_space(first_code(text.substr(at), length))) {
      break;
    }
    at += length;
  }
  return at;
}

/// Bytes from the end down to the last white space.
size_t last_word_length(std::string_view text) {
  size_t word = 0; // where it begins
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    const bool space = is_space(first_code(text.substr(at), length));
    at += length;
    word = space ? at : word;
  }
  return text.size() - word;
}

Parts split_words(std::string_view text, int64_t most) {
  Parts parts;
  text = strip(text, Side::kLeft);
  while (!text.empty() && (most < 0 || std::ssize(parts) < most)) {
    const size_t length = word_length(text);
    parts.push_back(text.substr(0, length));
    text = strip(text.substr(length), Side::kLeft);
  }
  if (!text.empty()) {
    parts.push_back(text);
  }
  return parts;
}

/// From the right, so that it is the first part which holds the rest. One walk
/// to the last word for each part: `most` bounds them.
Parts split_words_right(
    std::string_view text,
    int64_t most,
    Allowance& allowance) {
  if (most < 0) {
    return split_words(text, -1);
  }
  Parts parts;
  text = strip(text, Side::kRight);
  while (!text.empty() && std::ssize(parts) < most) {
    allowance.step(1 + text.size() / 8);
    const size_t length = last_word_length(text);
    parts.push_back(text.substr(text.size() - length));
    text = strip(text.substr(0, text.size() - length), Side::kRight);
  }
  if (!text.empty()) {
    parts.push_back(text);
  }
  std::ranges::reverse(parts);
  return parts;
}

Parts split_at(std::string_view text, std::string_view mark, int64_t most) {
  Parts parts;
  for (size_t at = text.find(mark);
       at != text.npos && (most < 0 || std::ssize(parts) < most);
       at = text.find(mark)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + mark.size());
  }
  parts.push_back(text);
  return parts;
}

Parts split_at_right(
    std::string_view text,
    std::string_view mark,
    int64_t most) {
  Parts parts;
  for (size_t at = text.rfind(mark);
       at != text.npos && (most < 0 || std::ssize(parts) < most);
       at = text.rfind(mark)) {
    parts.push_back(text.substr(at + mark.size()));
    text = text.substr(0, at);
  }
  parts.push_back(text);
  std::ranges::reverse(parts);
  return parts;
}

Value listed(const Parts& parts, Allowance& allowance) {
  allowance.make(2 * kItemBytes * parts.size());
  std::vector<Value> items;
  for (const std::string_view part : parts) {
    items.emplace_back(part);
  }
  return Value::list(std::move(items));
}

const std::string& mark_of(const Value& value) {
  const std::string& mark = plain_text(value, "text to split at");
  if (mark.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "expected text to split at, got an empty one");
  }
  return mark;
}

Value split(
    const std::string& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance) {
  const auto given = bind(arguments, name, {"sep", "maxsplit"}, 0);
  if (given[1] != nullptr && !given[1]->is_whole()) {
    refuse("a whole number of splits", *given[1]);
  }
  const int64_t most = given[1] != nullptr ? given[1]->integer() : -1;
  const bool right = name == "rsplit";
  if (given[0] == nullptr || given[0]->is(Kind::kNone)) {
    return listed(
        right ? split_words_right(self, most, allowance)
              : split_words(self, most),
        allowance);
  }
  const std::string& mark = mark_of(*given[0]);
  return listed(
      right ? split_at_right(self, mark, most) : split_at(self, mark, most),
      allowance);
}

Value partition(
    const std::string& self,
    const std::string& name,
    const Arguments& arguments) {
  const std::string& mark = mark_of(*bind(arguments, name, {"sep"}, 1)[0]);
  const bool right = name == "rpartition";
  const size_t at = right ? self.rfind(mark) : self.find(mark);
  std::vector<Value> parts(3, Value(""));
  if (at == self.npos) {
    parts[right ? 2 : 0] = Value(self);
  } else {
    parts = {
        Value(self.substr(0, at)),
        Value(mark),
        Value(self.substr(at + mark.size()))};
  }
  return Value::sequence(SequenceKind::kTuple, std::move(parts));
}

} // namespace

std::vector<std::string> split_lines(const std::string& text, bool keep_ends) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    const uint32_t code = first_code(std::string_view(text).substr(at), length);
    size_t end = at + length;
    if (ends_line(code)) {
      end += code == '\r' && end < text.size() && text[end] == '\n' ? 1 : 0;
      lines.push_back(text.substr(begin, (keep_ends ? end : at) - begin));
      begin = end;
    }
    at = end;
  }
  if (begin < text.size()) {
    lines.push_back(text.substr(begin));
  }
  return lines;
}

Value split_method(
    const std::string& self,
    const std::string& name,
    const Arguments& arguments,
    Allowance& allowance) {
  if (name == "split" || name == "rsplit") {
    return split(self, name, arguments, allowance);
  }
  if (name == "partition" || name == "rpartition") {
    return partition(self, name, arguments);
  }
  if (name == "splitlines") {
    const Value* keep = bind(arguments, name, {"keepends"}, 0)[0];
    const auto lines = split_lines(self, keep != nullptr && keep->truth());
    return listed(Parts(lines.begin(), lines.end()), allowance);
  }
  throw Error(
      ErrorCode::kUnsupported,
      "expected a method of texts that is read here, got '" + name + "'");
}

} // namespace holdfast::jinja
