// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/code_plane.h"

#include <array>
#include <cstring>

#include "holdfast/base/check.h"
#include "holdfast/codec/code_tile.h"

namespace holdfast {

namespace {

// How rows of b-bit codes lie in a tile, as constants of the loops below.
template <int b>
struct Rows {
  static constexpr int bits = b;
  static constexpr int64_t whole = 16 / bits; // codes of a word
  static constexpr int64_t first_split = whole * bits; // row
  static constexpr int64_t tile_words = bits * kCodeTileWords;
};

// Calls body(Rows<bits>()).
template <class Body>
void with_bits(int bits, const Body& body) {
  switch (bits) {
    case 2:
      return body(Rows<2>());
    case 3:
      return body(Rows<3>());
    case 4:
      return body(Rows<4>());
    case 5:
      return body(Rows<5>());
    case 6:
      return body(Rows<6>());
    case 8:
      return body(Rows<8>());
  }
  throw Error(
      ErrorCode::kInternal,
      "[codes] expected codes of 2, 3, 4, 5, 6 or 8 bits, got " +
          std::to_string(bits));
}

// A tile of keys holds 32 elements of a token in two neighbouring words of each
// line, and nothing else in them. Both are handled as one 32-bit number: codes
// of a row's two elements are 16 bits apart.
template <class R>
void put_key_tile(R, const uint8_t* codes, uint16_t* words) {
  std::array<uint32_t, R::bits> lines{};
  for (int64_t row = 0; row < R::first_split; ++row) {
    const uint32_t pair = codes[2 * row] | uint32_t{codes[2 * row + 1]} << 16;
    lines[row / R::whole] |= pair << (row % R::whole * R::bits);
  }
  for (int64_t row = R::first_split; row < kCodeTileRows; ++row) {
    const uint32_t pair = codes[2 * row] | uint32_t{codes[2 * row + 1]} << 16;
    for (int64_t i = 0; i < R::bits; ++i) {
      const CodeBit at = code_bit(R::bits, row, i);
      lines[at.line] |= (pair >> i & 0x10001u) << at.shift;
    }
  }
  for (int64_t line = 0; line < R::bits; ++line) {
    std::memcpy(words + line * kCodeTileWords, &lines[line], 4);
  }
}

template <class R>
void get_key_tile(R, const uint16_t* words, uint8_t* codes) {
  std::array<uint32_t, R::bits> lines;
  for (int64_t line = 0; line < R::bits; ++line) {
    std::memcpy(&lines[line], words + line * kCodeTileWords, 4);
  }
  constexpr uint32_t mask = (1u << R::bits) - 1;
  for (int64_t row = 0; row < kCodeTileRows; ++row) {
    uint32_t pair = 0;
    if (row < R::first_split) {
      pair = lines[row / R::whole] >> (row % R::whole * R::bits);
    } else {
      for (int64_t i = 0; i < R::bits; ++i) {
        const CodeBit at = code_bit(R::bits, row, i);
        pair |= (lines[at.line] >> at.shift & 0x10001u) << i;
      }
    }
    codes[2 * row] = static_cast<uint8_t>(pair & mask);
    codes[2 * row + 1] = static_cast<uint8_t>(pair >> 16 & mask);
  }
}

// A tile of values holds 16 elements of a token, all in one row.
template <class R>
void put_value_tile(
    R,
    const uint8_t* codes,
    const CodePlace& at,
    uint16_t* tile) {
  if (at.row >= R::first_split) {
    for (int64_t d = 0; d < 16; ++d) {
      put_code(tile, R::bits, at.row, at.word + 2 * d, codes[d]);
    }
    return;
  }
  uint16_t* line = tile + at.row / R::whole * kCodeTileWords + at.word;
  const auto shift = static_cast<uint32_t>(at.row % R::whole * R::bits);
  const uint32_t rest = ~(((1u << R::bits) - 1) << shift);
  for (int64_t d = 0; d < 16; ++d) {
    line[2 * d] = static_cast<uint16_t>(
        (line[2 * d] & rest) | uint32_t{codes[d]} << shift);
  }
}

template <class R>
void get_value_tile(
    R,
    const uint16_t* tile,
    const CodePlace& at,
    uint8_t* codes) {
  if (at.row >= R::first_split) {
    for (int64_t d = 0; d < 16; ++d) {
      const int64_t word = at.word + 2 * d;
      codes[d] = static_cast<uint8_t>(get_code(tile, R::bits, at.row, word));
    }
    return;
  }
  const uint16_t* line = tile + at.row / R::whole * kCodeTileWords + at.word;
  const auto shift = static_cast<uint32_t>(at.row % R::whole * R::bits);
  for (int64_t d = 0; d < 16; ++d) {
    codes[d] =
        static_cast<uint8_t>(line[2 * d] >> shift & ((1u << R::bits) - 1));
  }
}

} // namespace

void put_codes(
    const CodeSlot& at,
    std::span<const uint8_t> codes,
    std::byte* plane) {
  auto* words = reinterpret_cast<uint16_t*>(plane);
  const auto dim = static_cast<int64_t>(codes.size());
  with_bits(at.bits, [&](auto rows) {
    if (at.role == ChannelRole::kValues) {
      for (int64_t d = 0; d < dim; d += 16) {
        const CodePlace place = code_value_place(dim, at.slot, d);
        put_value_tile(
            rows, &codes[d], place, words + place.tile * rows.tile_words);
      }
      return;
    }
    int64_t d = 0;
    for (; d + 32 <= dim; d += 32) {
      const CodePlace place = code_key_place(at.slot, d);
      put_key_tile(
          rows, &codes[d], words + place.tile * rows.tile_words + place.word);
    }
    if (d < dim) {
      std::array<uint8_t, 32> last{};
      std::memcpy(last.data(), &codes[d], static_cast<size_t>(dim - d));
      const CodePlace place = code_key_place(at.slot, d);
      put_key_tile(
          rows, last.data(), words + place.tile * rows.tile_words + place.word);
    }
  });
}

void get_codes(
    const CodeSlot& at,
    const std::byte* plane,
    std::span<uint8_t> codes) {
  const auto* words = reinterpret_cast<const uint16_t*>(plane);
  const auto dim = static_cast<int64_t>(codes.size());
  with_bits(at.bits, [&](auto rows) {
    if (at.role == ChannelRole::kValues) {
      for (int64_t d = 0; d < dim; d += 16) {
        const CodePlace place = code_value_place(dim, at.slot, d);
        get_value_tile(
            rows, words + place.tile * rows.tile_words, place, &codes[d]);
      }
      return;
    }
    for (int64_t d = 0; d < dim; d += 32) {
      const CodePlace place = code_key_place(at.slot, d);
      std::array<uint8_t, 32> tile;
      get_key_tile(
          rows, words + place.tile * rows.tile_words + place.word, tile.data());
      const int64_t count = dim - d < 32 ? dim - d : 32;
      std::memcpy(&codes[d], tile.data(), static_cast<size_t>(count));
    }
  });
}

int64_t code_bytes(ChannelRole role, int bits, int64_t head_dim) {
  const int64_t width =
      role == ChannelRole::kKeys ? code_key_width(head_dim) : head_dim;
  return code_plane_bytes(bits, width);
}

} // namespace holdfast
