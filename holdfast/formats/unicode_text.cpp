// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/unicode_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "holdfast/base/check.h"
#include "holdfast/formats/utf8.h"

namespace holdfast {
namespace {

constexpr int32_t kNoCharacter = -1;

struct Character {
  int32_t code = kNoCharacter; // of a byte that is not of UTF-8
  size_t size = 0;
};

Character character_at(std::string_view text, size_t place) {
  const auto* bytes =
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + place;
  if (*bytes < 0x80) {
    return {*bytes, 1};
  }
  utf8proc_int32_t code = 0;
  const auto size = utf8proc_iterate(
      bytes, static_cast<utf8proc_ssize_t>(text.size() - place), &code);
  return size > 0 ? Character{code, static_cast<size_t>(size)}
                  : Character{kNoCharacter, 1};
}

/// Whether NFC leaves the character alone and apart from what comes before it,
/// whatever that is. May say no wrongly. (From U+1161 on, Hangul's vowels and
/// finals, which compose by rule; U+0300 is the first that composes backwards.)
bool stands(int32_t code) {
  if (code < 0x300) {
    return true;
  }
  if (code >= 0x1160 && code < 0x1200) {
    return false;
  }
  const utf8proc_property_t* property = utf8proc_get_property(code);
  const bool second =
      property->comb_index >= 0x8000 && property->comb_index != UINT16_MAX;
  const bool decomposes =
      property->decomp_seqindex != UINT16_MAX && property->decomp_type == 0;
  return property->combining_class == 0 && !second && !decomposes;
}

void append_code(int32_t code, std::string& result) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(code, bytes);
  result.append(
      reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

/// The library orders marks by moving each past its neighbours, n * n / 2 steps
/// for a run of n. So what is longer than this comes to it in order.
constexpr size_t kMostOutOfOrder = 256; // bytes

/// Taken apart, and the marks behind each letter in canonical order: every
/// normal form of this is that of the text.
std::string in_order(std::string_view text, int options) {
  const auto apart = static_cast<utf8proc_option_t>(
      UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (options & UTF8PROC_COMPAT));
  constexpr int kMostParts = 32; // of one character; Unicode's longest has 18
  std::vector<std::pair<int32_t, int32_t>> marks; // class and code
  std::string result;
  const auto end_marks = [&] {
    std::ranges::stable_sort(marks, {}, &std::pair<int32_t, int32_t>::first);
    for (const auto& [order, code] : marks) {
      append_code(code, result);
    }
    marks.clear();
  };
  for (size_t place = 0; place < text.size();) {
    const Character character = character_at(text, place);
    place += character.size;
    int32_t parts[kMostParts];
    int boundary = 0;
    const auto count = utf8proc_decompose_char(
        character.code, parts, kMostParts, apart, &boundary);
    ensure(
        count >= 0 && count <= kMostParts,
        "[tokenizer] expected text that has a normal form");
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const int32_t order = utf8proc_get_property(parts[i])->combining_class;
      if (order != 0) {
        marks.emplace_back(order, parts[i]);
        continue;
      }
      end_marks();
      append_code(parts[i], result);
    }
  }
  end_marks();
  return result;
}

void append_mapped(std::string_view text, int options, std::string& result) {
  std::string ordered;
  if (text.size() > kMostOutOfOrder) {
    ordered = in_order(text, options);
    text = ordered;
  }
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()),
      &mapped,
      static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(
      mapped, std::free);
  ensure(size >= 0, "[tokenizer] expected text that has a normal form");
  result.append(
      reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

/// Nearly all text is in this form already: only what may change is mapped,
/// from the character before it to the next that stands.
void append_nfc(std::string_view text, std::string& result) {
  size_t copied = 0; // up to here `text` is in the result
  size_t before = 0; // the last character's begin
  for (size_t place = 0; place < text.size();) {
    const Character character = character_at(text, place);
    if (stands(character.code)) {
      before = place;
      place += character.size;
      continue;
    }
    const size_t begin = before;
    for (place += character.size; place < text.size();) {
      const Character next = character_at(text, place);
      if (stands(next.code)) {
        break;
      }
      place += next.size;
    }
    result.append(text.substr(copied, begin - copied));
    append_mapped(text.substr(begin, place - begin), UTF8PROC_COMPOSE, result);
    copied = place;
    before = place;
  }
  result.append(text.substr(copied));
}

bool is_white_space(int32_t code) {
  return (code >= 0x9 && code <= 0xD) || code == 0x20 || code == 0x85 ||
      code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
      code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
      code == 0x3000;
}

} // namespace

void append_normalized(
    std::string_view text,
    NormalForm form,
    std::string& result) {
  switch (form) {
    case NormalForm::kNfc:
      return append_nfc(text, result);
    case NormalForm::kNfd:
      return append_mapped(text, UTF8PROC_DECOMPOSE, result);
    case NormalForm::kNfkc:
      return append_mapped(text, UTF8PROC_COMPOSE | UTF8PROC_COMPAT, result);
    case NormalForm::kNfkd:
      return append_mapped(text, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, result);
  }
}

void append_lower(std::string_view text, std::string& result) {
  constexpr int32_t kDottedI = 0x130; // the one that becomes two characters
  for (size_t place = 0; place < text.size();) {
    const Character character = character_at(text, place);
    place += character.size;
    if (character.code == kDottedI) {
      result += "i\xCC\x87";
      continue;
    }
    append_code(utf8proc_tolower(character.code), result);
  }
}

std::string_view without_left_space(std::string_view text) {
  while (!text.empty()) {
    const Character character = character_at(text, 0);
    if (!is_white_space(character.code)) {
      break;
    }
    text.remove_prefix(character.size);
  }
  return text;
}

std::string_view without_right_space(std::string_view text) {
  while (!text.empty()) {
    const size_t begin = last_character(text);
    if (!is_white_space(character_at(text, begin).code)) {
      break;
    }
    text = text.substr(0, begin);
  }
  return text;
}

size_t last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 && (text[begin] & 0xC0) == 0x80) {
    --begin;
  }
  return character_at(text, begin).size == text.size() - begin
      ? begin
      : text.size() - 1;
}

} // namespace holdfast
