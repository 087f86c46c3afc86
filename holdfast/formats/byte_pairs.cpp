// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/byte_pairs.h"

#include "holdfast/formats/utf8.h"

namespace holdfast {

void BytePairs::add_with_marks(std::string_view piece) {
  // Byte by byte: what meets inside a character is marked as well, so that a
  // piece that is not UTF-8 needs no thought.
  uint8_t left = 0;
  for (size_t place = 0; place < piece.size();) {
    const bool mark = space_mark_at(piece, place);
    const auto right = mark ? uint8_t{' '} : static_cast<uint8_t>(piece[place]);
    if (place > 0) {
      add(left, right);
    }
    left = right;
    place += mark ? kSpaceMark.size() : 1;
  }
}

void BytePairs::add_bytes(std::string_view bytes) {
  for (size_t i = 1; i < bytes.size(); ++i) {
    add(static_cast<uint8_t>(bytes[i - 1]), static_cast<uint8_t>(bytes[i]));
  }
}

MarkedCharacter marked_character_at(std::string_view text, size_t place) {
  const auto first = static_cast<uint8_t>(text[place]);
  if (first < 0x80) {
    return {1, first, first};
  }
  if (space_mark_at(text, place)) {
    return {kSpaceMark.size(), ' ', ' '};
  }
  const std::string_view rest = text.substr(place);
  const auto size = static_cast<size_t>(utf8_length_or_one(rest));
  return {size, first, static_cast<uint8_t>(rest[size - 1])};
}

} // namespace holdfast
