// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_format.h"

#include <algorithm>
#include <string>
#include <utility>

#include "holdfast/base/status.h"
#include "holdfast/formats/jinja_print.h"

namespace holdfast::jinja {

namespace {

[[noreturn]] void refuse_field(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, text);
}

class Formatter {
 public:
  Formatter(const Arguments& arguments, Allowance& allowance)
      : arguments_(arguments), allowance_(allowance) {}

  std::string run(std::string_view text) {
    std::string result;
    while (!text.empty()) {
      const size_t brace = std::min(text.find_first_of("{}"), text.size());
      result += text.substr(0, brace);
      text.remove_prefix(brace);
      if (text.empty()) {
        break;
      }
      if (text.size() > 1 && text[1] == text[0]) {
        result += text[0];
        text.remove_prefix(2);
        continue;
      }
      const size_t end = text.find('}');
      if (text[0] == '}' || end == text.npos) {
        refuse_field("expected braces in pairs to format, got one alone");
      }
      const std::string part =
          to_text(field(text.substr(1, end - 1)), allowance_);
      allowance_.make(part.size());
      result += part;
      text.remove_prefix(end + 1);
    }
    return result;
  }

 private:
  const Value& field(std::string_view name) {
    constexpr std::string_view kDigits = "0123456789";
    if (name.find_first_of(".[!:{") != name.npos) {
      throw Error(
          ErrorCode::kUnsupported,
          "expected fields to format that are named alone, got '" +
              std::string(name) + "'");
    }
    const bool counted = name.empty();
    if (!counted && name.find_first_not_of(kDigits) != name.npos) {
      return named(name);
    }
    if (std::exchange(counted_, counted) != counted && placed_) {
      refuse_field("expected all fields counted or none, got both");
    }
    placed_ = true;
    const auto& given = arguments_.positional;
    const size_t index = counted ? next_++
        : name.size() > 9        ? given.size()
                                 : std::stoul(std::string(name));
    if (index >= given.size()) {
      refuse_field("expected a value for every field to format, got too few");
    }
    return given[index];
  }

  const Value& named(std::string_view name) const {
    const auto at = std::ranges::find_if(
        arguments_.named, [&](const auto& one) { return one.first == name; });
    if (at == arguments_.named.end()) {
      refuse_field(
          "expected a value for the field '" + std::string(name) +
          "', got none");
    }
    return at->second;
  }

  const Arguments& arguments_;
  Allowance& allowance_;
  bool counted_ = false; // the last field that no name was given
  bool placed_ = false; // a field by its place was seen
  size_t next_ = 0;
};

} // namespace

Value format_text(
    std::string_view text,
    const Arguments& arguments,
    Allowance& allowance) {
  return Value(Formatter(arguments, allowance).run(text));
}

} // namespace holdfast::jinja
