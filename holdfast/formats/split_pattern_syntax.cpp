// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// From Oniguruma's syntax to PCRE2's. Both share most of it; what they read
// differently is rewritten (\s, which is White_Space there) or refused, and so
// is what could take long: an endless repetition of a group.

#include <algorithm>
#include <array>

#include "holdfast/formats/split_pattern.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

// White_Space of Unicode, and what is not.
constexpr const char* kSpaces =
    "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}"
    "\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
constexpr const char* kNoSpaces =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}"
    "\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-"
    "\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}";

constexpr std::array<std::string_view, 37> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me",
    "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi",
    "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So", "Z",  "Zs", "Zl",
    "Zp", "C",  "Cc", "Cf", "Cn", "Co", "Cs"};
// A script's name alone means its extensions too in PCRE2.
constexpr std::array<std::string_view, 16> kScripts = {
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Latin",
    "Greek",
    "Thai",
    "Cyrillic",
    "Arabic",
    "Hebrew",
    "Devanagari",
    "Bengali",
    "Tamil",
    "Georgian",
    "Armenian",
    "Khmer"};
constexpr std::string_view kEscapable = "\\.[](){}|?*+^$-/'\"#&~!@%=<>,:;`_ ";
constexpr int kMostDepth = 32;

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    alternatives(0);
    if (place_ < pattern_.size()) {
      refuse("an opened group before it closes");
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(const char* expected) const {
    const size_t end = std::min(place_ + 8, pattern_.size());
    throw Error(
        ErrorCode::kUnsupported,
        "expected " + std::string(expected) + " at byte " +
            std::to_string(place_) + " of the pattern, got \"" +
            std::string(pattern_.substr(place_, end - place_)) + "\"");
  }
  bool at(std::string_view text) const {
    return pattern_.substr(place_).starts_with(text);
  }
  bool take(std::string_view text) {
    if (!at(text)) {
      return false;
    }
    place_ += text.size();
    return true;
  }

  void alternatives(int depth) {
    if (depth > kMostDepth) {
      refuse("at most 32 groups in one another");
    }
    while (place_ < pattern_.size() && !at(")")) {
      if (take("|")) {
        result_ += '|';
      } else if (at("(")) {
        group(depth);
      } else {
        atom();
        repetition();
      }
    }
  }

  void group(int depth) {
    constexpr std::array<std::string_view, 7> kOpenings = {
        "(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    const auto* opening =
        std::find_if(kOpenings.begin(), kOpenings.end(), [&](auto text) {
          return at(text);
        });
    if (opening != kOpenings.end()) {
      place_ += opening->size();
      result_ += *opening;
    } else if (at("(?") || at("(*")) {
      refuse("a group of (?: (?i: (?= (?! (?<= (?<! (?> or plain");
    } else {
      ++place_;
      result_ += "(?:";
    }
    alternatives(depth + 1);
    if (!take(")")) {
      refuse("a group that closes");
    }
    result_ += ')';
    if (take("?")) {
      result_ += '?';
      suffix();
    } else if (at("*") || at("+") || at("{")) {
      refuse("a group that is not repeated");
    }
  }

  void atom() {
    if (at("[")) {
      char_class();
    } else if (at("\\")) {
      escape(false);
    } else if (
        at("^") || at("$") || at("?") || at("*") || at("+") || at("{") ||
        at("}") || at("]")) {
      refuse("a character, a class, a group or an escape");
    } else {
      character();
    }
  }

  void character() {
    const std::string_view rest = pattern_.substr(place_);
    const Utf8Step step = utf8_step(rest);
    if (step.state != Utf8State::kValid || rest[0] == '\0') {
      refuse("UTF-8 text");
    }
    result_ += rest.substr(0, static_cast<size_t>(step.length));
    place_ += static_cast<size_t>(step.length);
  }

  void repetition() {
    if (at("{")) {
      const size_t end = pattern_.find('}', place_);
      const auto counts = end == pattern_.npos
          ? std::string_view()
          : pattern_.substr(place_ + 1, end - place_ - 1);
      const size_t comma = std::min(counts.find(','), counts.size());
      const auto digits = [](std::string_view text, bool may_lack) {
        return text.size() <= 3 && (may_lack || !text.empty()) &&
            text.find_first_not_of("0123456789") == text.npos;
      };
      if (!digits(counts.substr(0, comma), false) ||
          (comma < counts.size() && !digits(counts.substr(comma + 1), true))) {
        refuse("{m}, {m,} or {m,n} with counts below 1000");
      }
      result_ += pattern_.substr(place_, end + 1 - place_);
      place_ = end + 1;
      if (at("?") || at("*") || at("+") || at("{")) {
        refuse("one repetition");
      }
    } else if (at("?") || at("*") || at("+")) {
      result_ += pattern_[place_++];
      suffix();
    }
  }

  /// Behind ?, * and +: lazy or possessive, the same in both.
  void suffix() {
    if (at("?") || at("+")) {
      result_ += pattern_[place_++];
    }
    if (at("?") || at("*") || at("+") || at("{")) {
      refuse("one repetition");
    }
  }

  void char_class() {
    ++place_;
    result_ += '[';
    if (take("^")) {
      result_ += '^';
    }
    if (at("]")) {
      refuse("a class that is not empty");
    }
    while (!take("]")) {
      if (place_ == pattern_.size()) {
        refuse("a class that closes");
      }
      if (at("[") || at("&&")) {
        refuse("a class without others in it");
      }
      if (set_ahead()) {
        escape(true);
        // Between sets a hyphen is itself there, and an error or a range here.
        if (at("-") && !at("-]")) {
          refuse("a hyphen at the end of the class or escaped");
        }
      } else {
        class_character();
        if (take("-")) {
          result_ += '-';
          if (set_ahead()) {
            refuse("a range that ends with a character");
          }
          if (!at("]")) {
            class_character();
          }
        }
      }
    }
    result_ += ']';
  }

  bool set_ahead() const {
    return at("\\s") || at("\\S") || at("\\d") || at("\\D") || at("\\p") ||
        at("\\P");
  }

  void class_character() {
    if (at("\\")) {
      escape(true);
    } else {
      character();
    }
  }

  void escape(bool in_class) {
    ++place_;
    if (place_ == pattern_.size()) {
      refuse("an escape");
    }
    const char kind = pattern_[place_];
    switch (kind) {
      case 's':
      case 'S':
        ++place_;
        result_ += in_class
            ? (kind == 's' ? kSpaces : kNoSpaces)
            : (kind == 's' ? "[" : "[^") + std::string(kSpaces) + "]";
        return;
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'd':
      case 'D':
        ++place_;
        result_ += '\\';
        result_ += kind;
        return;
      case 'v': // one character there, a set of them in PCRE2
        ++place_;
        result_ += "\\x{B}";
        return;
      case 'p':
      case 'P':
        property();
        return;
      case 'u':
      case 'x':
        code_point(kind == 'u' ? 4 : 2);
        return;
      default:
        if (kEscapable.find(kind) == kEscapable.npos) {
          refuse("an escape of s S d D n r t f v p P u x or a sign");
        }
        ++place_;
        if (std::string_view("'\"#&~!@%=<>,:;`_ /").find(kind) ==
            std::string_view::npos) {
          result_ += '\\';
        }
        result_ += kind;
    }
  }

  void property() {
    const char kind = pattern_[place_];
    const size_t end = pattern_.find('}', place_);
    if (end == pattern_.npos || pattern_.substr(place_ + 1, 1) != "{") {
      refuse("a property in braces");
    }
    const auto name = pattern_.substr(place_ + 2, end - place_ - 2);
    const auto has = [&](const auto& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool script = has(kScripts);
    if (!script && !has(kCategories)) {
      refuse("a general category or a script");
    }
    result_ += '\\';
    result_ += kind;
    result_ += script ? "{sc:" : "{";
    result_ += name;
    result_ += '}';
    place_ = end + 1;
  }

  void code_point(size_t count) {
    const auto digits = pattern_.substr(place_ + 1, count);
    if (digits.size() != count ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos ||
        (count == 2 && digits[0] > '7')) { // from 80 on it is a byte there
      refuse("a character in hex");
    }
    result_ += "\\x{";
    result_ += digits;
    result_ += '}';
    place_ += 1 + count;
  }

  std::string_view pattern_;
  size_t place_ = 0;
  std::string result_;
};

} // namespace

std::string pcre2_of(std::string_view pattern) {
  return Translation(pattern).run();
}

} // namespace holdfast
