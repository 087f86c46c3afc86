// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes into tiles, token by token. Include it in vector_loops_plain.cpp alone.

#pragma once

#include <cstring>

#include "holdfast/codec/code_pieces-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

// A tile of keys holds 32 elements of a token in two neighbouring words of each
// line, and nothing else in them. Both are handled as one 32-bit number: codes
// of a row's two elements are 16 bits apart.
template <class R>
void put_key_tile(const uint8_t* codes, uint16_t* words) {
  uint32_t lines[R::bits] = {};
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
void put_keys(const SlotRun& run, const uint8_t* codes, uint16_t* plane) {
  const int64_t width = code_key_width(run.dim);
  for (int64_t i = 0; i < run.count; ++i) {
    for (int64_t d = 0; d < width; d += 32) {
      const CodePlace at = code_key_place(run.slot + i, d);
      put_key_tile<R>(
          codes + i * width + d, plane + at.tile * R::tile_words + at.word);
    }
  }
}

// A tile of values holds 16 elements of a token, all in one row.
template <class R>
void put_value_tile(const uint8_t* codes, const CodePlace& at, uint16_t* tile) {
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
void put_values(const SlotRun& run, const uint8_t* codes, uint16_t* plane) {
  for (int64_t i = 0; i < run.count; ++i) {
    for (int64_t d = 0; d < run.dim; d += 16) {
      const CodePlace at = code_value_place(run.dim, run.slot + i, d);
      put_value_tile<R>(
          codes + i * run.dim + d, at, plane + at.tile * R::tile_words);
    }
  }
}

inline void put_key_codes(
    int bits,
    const SlotRun& run,
    const uint8_t* codes,
    uint16_t* plane) {
  with_bits(
      bits, [&](auto rows) { put_keys<decltype(rows)>(run, codes, plane); });
}

inline void put_value_codes(
    int bits,
    const SlotRun& run,
    const uint8_t* codes,
    uint16_t* plane) {
  with_bits(
      bits, [&](auto rows) { put_values<decltype(rows)>(run, codes, plane); });
}

} // namespace
} // namespace holdfast
