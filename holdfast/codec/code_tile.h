// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How codes of 2, 3, 4, 5, 6 or 8 bits are packed, for the affine and the turbo
// codecs. A plane of codes is a row of tiles of 512 elements, those of the bf16
// planes (dense_layout.h): 16 rows of 32 elements, which are called words.
//
// A tile of b-bit codes is b lines of 32 words of 16 bits; word w of each line
// belongs to element w of the rows. A word has room for n = 16 / b whole codes:
// row r lies in line r / n, lowest bits first. Rows from b * n on (3 and 5
// bits: row 15; 6 bits: rows 12 to 15) take the bits left over at the top of
// the words: their codes' bits, lowest first, fill those of line 0, then of
// line 1, and so on. No bit is unused. Pure functions; any thread.

#pragma once

#include <cstdint>

#include "holdfast/block/layout.h"

namespace holdfast {

inline constexpr int64_t kCodeTileRows = 16;
inline constexpr int64_t kCodeTileWords = 32;

/// Bytes of a tile of codes.
constexpr int64_t code_tile_bytes(int bits) {
  return bits * kCodeTileWords * 2;
}

/// Where bit `i` of a row's codes lies.
struct CodeBit {
  int64_t line;
  int64_t shift;
};
constexpr CodeBit code_bit(int64_t bits, int64_t row, int64_t i) {
  const int64_t whole = 16 / bits; // codes of a word
  if (row < whole * bits) {
    return {row / whole, row % whole * bits + i};
  }
  const int64_t left = 16 - whole * bits; // bits of a word
  const int64_t index = (row - whole * bits) * bits + i;
  return {index / left, whole * bits + index % left};
}

/// The code of element (row, word) of a tile [bits][32].
constexpr uint32_t
get_code(const uint16_t* tile, int64_t bits, int64_t row, int64_t word) {
  uint32_t code = 0;
  for (int64_t i = 0; i < bits; ++i) {
    const CodeBit at = code_bit(bits, row, i);
    const uint32_t line = tile[at.line * kCodeTileWords + word];
    code |= (line >> at.shift & 1u) << i;
  }
  return code;
}

/// Puts a code there and leaves all other elements as they are.
constexpr void put_code(
    uint16_t* tile,
    int64_t bits,
    int64_t row,
    int64_t word,
    uint32_t code) {
  for (int64_t i = 0; i < bits; ++i) {
    const CodeBit at = code_bit(bits, row, i);
    uint16_t& line = tile[at.line * kCodeTileWords + word];
    const uint32_t rest = line & ~(1u << at.shift);
    line = static_cast<uint16_t>(rest | (code >> i & 1u) << at.shift);
  }
}

/// An element's place in a plane of codes.
struct CodePlace {
  int64_t tile;
  int64_t row;
  int64_t word;
};

/// Elements that a token's key takes: whole tiles of 32. Elements beyond the
/// head size have code 0.
constexpr int64_t code_key_width(int64_t dim) {
  return (dim + 31) / 32 * 32;
}

/// Keys: tiles [width / 32][4 groups of 16 tokens], each [16 pairs of
/// elements][16 tokens][2].
constexpr CodePlace code_key_place(int64_t t, int64_t d) {
  return {d / 32 * 4 + t / 16, d % 32 / 2, t % 16 * 2 + d % 2};
}

/// Values: tiles [2 steps of 32 tokens][dim / 16], each [16 pairs of
/// tokens][16 elements][2].
constexpr CodePlace code_value_place(int64_t dim, int64_t t, int64_t d) {
  return {t / 32 * (dim / 16) + d / 16, t % 32 / 2, d % 16 * 2 + t % 2};
}

/// Bytes of a block's plane of codes for `width` elements a token.
constexpr int64_t code_plane_bytes(int bits, int64_t width) {
  return kBlockTokens * width * bits / 8;
}

} // namespace holdfast
