// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where the rows of a tile of codes lie (code_tile.h), as constants of loops.
// Include it in vector_loops_*.cpp and code_plane.cpp alone.

#pragma once

#include <cstdint>

#include "holdfast/codec/code_tile.h"

namespace holdfast {
namespace {

/// Rows of b-bit codes. A line is its whole rows and one or two pieces of the
/// rows that have no line of their own.
template <int b>
struct CodeRows {
  static constexpr int bits = b;
  static constexpr int whole = 16 / bits; // codes of a word
  static constexpr int first_split = whole * bits; // row
  static constexpr int left = 16 - whole * bits; // bits of a word
  static constexpr int pieces = left == 0 ? 0 : left == 1 ? 1 : 2; // of a line
  static constexpr int64_t tile_words = bits * kCodeTileWords;

  /// Bits [from, from + count) of row `row` go to bit `to` on.
  struct Piece {
    int row;
    int from;
    int count;
    int to;
  };
  static constexpr Piece piece(int line, int i) {
    const int index = line * left;
    const int from = index % bits;
    const int here = bits - from < left ? bits - from : left;
    const int row = first_split + index / bits;
    if (i == 0) {
      return {row, from, here, first_split};
    }
    // No bits where the first piece has all.
    return {here < left ? row + 1 : row, 0, left - here, first_split + here};
  }
};

/// Calls body(CodeRows<bits>()); bits: 2, 3, 4, 5, 6 or 8.
template <class Body>
void with_bits(int bits, const Body& body) {
  switch (bits) {
    case 2:
      return body(CodeRows<2>());
    case 3:
      return body(CodeRows<3>());
    case 4:
      return body(CodeRows<4>());
    case 5:
      return body(CodeRows<5>());
    case 6:
      return body(CodeRows<6>());
    default:
      return body(CodeRows<8>());
  }
}

} // namespace
} // namespace holdfast
