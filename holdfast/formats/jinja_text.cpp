// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/jinja_text.h"

#include <algorithm>

#include "holdfast/formats/jinja_printable.h"
#include "holdfast/formats/utf8.h"

namespace holdfast::jinja {

namespace {

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// The character that ends `text`, which is not empty.
std::string_view last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && continues(text[begin])) {
    --begin;
  }
  return text.substr(begin);
}

template <class Taken>
std::string_view strip_if(std::string_view text, Side side, Taken taken) {
  while (side != Side::kRight && !text.empty()) {
    const auto length = static_cast<size_t>(utf8_length_or_one(text));
    if (!taken(text.substr(0, length))) {
      break;
    }
    text.remove_prefix(length);
  }
  while (side != Side::kLeft && !text.empty()) {
    const std::string_view last = last_character(text);
    if (!taken(last)) {
      break;
    }
    text.remove_suffix(last.size());
  }
  return text;
}

bool is_space_character(std::string_view character) {
  size_t length = 0;
  return is_space(first_code(character, length));
}

} // namespace

bool append_utf8(uint32_t code, std::string& to) {
  const auto byte = [&to](uint32_t value) {
    to += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
    return false;
  }
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 63));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 63));
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  }
  return true;
}

uint32_t first_code(std::string_view text, size_t& length) {
  length = static_cast<size_t>(utf8_length_or_one(text));
  const auto first = static_cast<unsigned char>(text[0]);
  if (length == 1) {
    return first;
  }
  uint32_t code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 63u);
  }
  return code;
}

bool is_space(uint32_t code) {
  return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) ||
      code == 0x85 || code == 0xa0 || code == 0x1680 ||
      (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
      code == 0x202f || code == 0x205f || code == 0x3000;
}

bool is_printable(uint32_t code) {
  const auto after = std::ranges::upper_bound(
      kUnprintable, code, {}, [](const CodeRange& range) {
        return range.first;
      });
  return after == std::begin(kUnprintable) || std::prev(after)->last < code;
}

size_t leading_spaces(std::string_view text) {
  return text.size() - strip(text, Side::kLeft).size();
}

size_t trailing_spaces(std::string_view text) {
  return text.size() - strip(text, Side::kRight).size();
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const auto length = static_cast<size_t>(utf8_length_or_one(text));
    result.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return result;
}

size_t byte_of(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues(text[at]) && index-- == 0) {
      break;
    }
  }
  return at;
}

std::string_view strip(std::string_view text, Side side) {
  return strip_if(text, side, is_space_character);
}

std::string_view strip(std::string_view text, Side side, std::string_view set) {
  return strip_if(text, side, [set](std::string_view character) {
    return set.find(character) != set.npos;
  });
}

} // namespace holdfast::jinja
