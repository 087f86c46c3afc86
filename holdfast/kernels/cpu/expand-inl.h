// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where a code lies in a packed tile, and how a code becomes a bf16 weight: the
// definitions that every form of the expansion follows.
//
// A tile holds 16 rows (pairs of k) of 32 lanes (lane 2c + j: column c, k 2p +
// j) of b-bit codes, in b words of 32 lanes of 16 bits. A word holds 16 / b
// whole rows, lowest bits first; its remaining r = 16 mod b high bits, word
// after word, make up the last r rows.
//
// h = fp16(scale * code + offset), rounded once, to nearest even; the weight is
// h rounded to 8 significand bits, halves away from zero, with its exponent
// field kept, so as bf16 it stands for its value times 2^-112.

#pragma once

#include <cstdint>
#include <cstring>

namespace holdfast::cpu {
namespace {

/// How far ahead of their use codes are fetched into L2, in bytes.
constexpr int64_t kFetchAhead = 8192;

template <int kBits>
struct TileCodes {
  static constexpr int kPerWord = 16 / kBits;
  static constexpr int kDirectRows = kPerWord * kBits;
  static constexpr int kSpareBits = 16 - kDirectRows; // also the rows they make
};

inline uint32_t tile_word(const uint8_t* tile, int word, int lane) {
  uint16_t bits;
  std::memcpy(&bits, tile + 64 * word + 2 * lane, 2);
  return bits;
}

inline uint32_t tile_code(const uint8_t* tile, int bits, int row, int lane) {
  const int per_word = 16 / bits;
  const int direct = per_word * bits;
  if (row < direct) {
    const uint32_t word = tile_word(tile, row / per_word, lane);
    return (word >> (row % per_word * bits)) & ((1u << bits) - 1u);
  }
  const int spare = 16 - direct;
  uint32_t code = 0;
  for (int i = 0; i < bits; ++i) {
    const int at = (row - direct) * bits + i;
    const uint32_t word = tile_word(tile, at / spare, lane);
    code |= (word >> (direct + at % spare) & 1u) << i;
  }
  return code;
}

/// One tile's share of its group: 16 scales and offsets as fp16, for rows 0..7
/// and 8..15 (the same addresses unless groups are of 16). offsets are null
/// where the format stores none.
struct TileScales {
  const uint8_t* scales[2];
  const uint8_t* offsets[2];
};

} // namespace
} // namespace holdfast::cpu
