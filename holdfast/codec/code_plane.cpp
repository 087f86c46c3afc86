// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/code_plane.h"

#include <array>
#include <cstring>

#include "holdfast/base/check.h"
#include "holdfast/codec/code_pieces-inl.h"
#include "holdfast/codec/code_tile.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

namespace {

// A tile of keys holds 32 elements of a token in two neighbouring words of each
// line; both are read as one 32-bit number.
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

template <class R>
void get_value_tile(
    R,
    const uint16_t* tile,
    const CodePlace& at,
    uint8_t* codes) {
  if (R::left > 0 && at.row >= R::first_split) {
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

void require_width(int bits) {
  if (bits < 2 || bits > 8 || bits == 7) [[unlikely]] {
    throw Error(
        ErrorCode::kInternal,
        "[codes] expected codes of 2, 3, 4, 5, 6 or 8 bits, got " +
            std::to_string(bits));
  }
}

} // namespace

void put_codes(
    const CodeSlot& first,
    const CodeTokens& tokens,
    std::byte* plane) {
  require_width(first.bits);
  const VectorLoops& loops = vector_loops();
  const auto& put = first.role == ChannelRole::kKeys ? loops.put_key_codes
                                                     : loops.put_value_codes;
  put(first.bits,
      {first.slot, tokens.count, tokens.head_dim},
      tokens.codes,
      reinterpret_cast<uint16_t*>(plane));
}

void get_codes(
    const CodeSlot& at,
    const std::byte* plane,
    std::span<uint8_t> codes) {
  const auto* words = reinterpret_cast<const uint16_t*>(plane);
  const auto dim = static_cast<int64_t>(codes.size());
  require_width(at.bits);
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

int64_t code_row(ChannelRole role, int64_t head_dim) {
  return role == ChannelRole::kKeys ? code_key_width(head_dim) : head_dim;
}

int64_t code_bytes(ChannelRole role, int bits, int64_t head_dim) {
  return code_plane_bytes(bits, code_row(role, head_dim));
}

} // namespace holdfast
