// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which two bytes ever meet inside a piece. Where the last byte of a character
// and the first of the next never do, no merge crosses, so text falls apart
// into short independent segments. May say yes wrongly, never no. The space
// mark counts as one byte, a space, for itself where pieces have marks: its own
// bytes are common. Immutable once filled; any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "holdfast/formats/token_id.h"

namespace holdfast {

class BytePairs {
 public:
  /// All bytes that meet in a piece, each space mark as one space.
  void add_with_marks(std::string_view piece);
  /// All bytes that meet, as they are.
  void add_bytes(std::string_view bytes);

  bool may_join(uint8_t left, uint8_t right) const {
    const size_t bit = bit_of(left, right);
    return (bits_[bit / 64] >> (bit % 64)) & 1;
  }

 private:
  void add(uint8_t left, uint8_t right) {
    const size_t bit = bit_of(left, right);
    bits_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  static size_t bit_of(uint8_t left, uint8_t right) {
    return size_t{left} * 256 + right;
  }
  std::array<uint64_t, 1024> bits_{};
};

/// A character, as BytePairs sees its ends.
struct MarkedCharacter {
  size_t size = 0;
  uint8_t first = 0;
  uint8_t last = 0;
};

/// The one that begins at `place` of a text with space marks; a byte that is
/// not part of valid UTF-8 is one of its own.
MarkedCharacter marked_character_at(std::string_view text, size_t place);

inline bool space_mark_at(std::string_view text, size_t place) {
  return text[place] == kSpaceMark[0] && text.size() - place >= 3 &&
      text[place + 1] == kSpaceMark[1] && text[place + 2] == kSpaceMark[2];
}

} // namespace holdfast
