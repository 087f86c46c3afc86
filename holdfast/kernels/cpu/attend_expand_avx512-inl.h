// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles of codes (codec/code_tile.h) to bf16 tiles. Up to 5 bits a shift brings
// a row's codes down and a permutation looks them up: it reads five bits of an
// index, and the table repeats itself over those beyond the code. 6 and 8 bits
// become fp16 integers, whose upper 13 bits are bf16 of 2^-112 times that.
// Include it in a kernel's .cpp file alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_expand-inl.h"
#include "holdfast/kernels/cpu/intrinsics.h"

namespace holdfast::cpu {
namespace {

inline void put_row(uint16_t* tile, int row, __m512i x) {
  _mm512_store_si512(tile + row * 32, x);
}

/// mask ? a : b, bit by bit.
inline __m512i mix(int mask, __m512i a, __m512i b) {
  return _mm512_ternarylogic_epi32(
      _mm512_set1_epi16(static_cast<int16_t>(mask)), a, b, 0xca);
}

template <int kBits>
inline void
expand_levels(const std::byte* from, __m512i levels, uint16_t* tile) {
  constexpr int kWhole = 16 / kBits;
  __m512i line[kBits];
  for (int i = 0; i < kBits; ++i) {
    line[i] = _mm512_loadu_si512(from + 64 * i);
    for (int j = 0; j < kWhole; ++j) {
      const __m512i index = _mm512_srli_epi16(line[i], kBits * j);
      put_row(tile, i * kWhole + j, _mm512_permutexvar_epi16(index, levels));
    }
  }
  if constexpr (kWhole * kBits < 16) { // row 15: the top bits of the lines
    __m512i index = _mm512_srli_epi16(line[0], 15);
    for (int i = 1; i < kBits; ++i) {
      index = mix(1 << i, _mm512_srli_epi16(line[i], 15 - i), index);
    }
    put_row(tile, 15, _mm512_permutexvar_epi16(index, levels));
  }
}

/// 32 integers below 256 to bf16 of 2^-112 times them.
inline __m512i narrow_integers(__m512i x) {
#if defined(__AVX512FP16__)
  const __m512h half = _mm512_cvtepu16_ph(x);
  return _mm512_srli_epi16(reinterpret_cast<__m512i>(half), 3);
#else
  const __m512 scale = _mm512_set1_ps(0x1p-112f);
  const __m512i even = _mm512_and_si512(x, _mm512_set1_epi32(0xffff));
  const __m512i odd = _mm512_srli_epi32(x, 16);
  const __m512i low =
      _mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(even), scale));
  const __m512i high =
      _mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(odd), scale));
  return _mm512_or_si512(_mm512_srli_epi32(low, 16), high);
#endif
}

inline void expand_bytes(const std::byte* from, uint16_t* tile) {
  const __m512i low = _mm512_set1_epi16(0xff);
  for (int i = 0; i < 8; ++i) {
    const __m512i line = _mm512_loadu_si512(from + 64 * i);
    put_row(tile, 2 * i, narrow_integers(_mm512_and_si512(line, low)));
    put_row(tile, 2 * i + 1, narrow_integers(_mm512_srli_epi16(line, 8)));
  }
}

inline void expand_sixes(const std::byte* from, uint16_t* tile) {
  const __m512i low = _mm512_set1_epi16(0x3f);
  __m512i line[6];
  for (int i = 0; i < 6; ++i) {
    line[i] = _mm512_loadu_si512(from + 64 * i);
    put_row(tile, 2 * i, narrow_integers(_mm512_and_si512(line[i], low)));
    put_row(
        tile,
        2 * i + 1,
        narrow_integers(_mm512_and_si512(_mm512_srli_epi16(line[i], 6), low)));
  }
  // Four bits are left in each word: three lines hold two rows' codes.
  for (int i = 0; i < 2; ++i) {
    const __m512i* l = line + 3 * i;
    const __m512i first =
        mix(0x30, _mm512_srli_epi16(l[1], 8), _mm512_srli_epi16(l[0], 12));
    const __m512i second =
        mix(0x3c, _mm512_srli_epi16(l[2], 10), _mm512_srli_epi16(l[1], 14));
    put_row(tile, 12 + 2 * i, narrow_integers(first));
    put_row(tile, 13 + 2 * i, narrow_integers(second));
  }
}

struct ExpandAvx512Tile {
  static void bytes(const std::byte* from, uint16_t* tile) {
    expand_bytes(from, tile);
  }
  static void sixes(const std::byte* from, uint16_t* tile) {
    expand_sixes(from, tile);
  }
  static __m512i table(const uint16_t* levels) {
    return _mm512_loadu_si512(levels);
  }
  template <int kBits>
  static void
  levels(const std::byte* from, const __m512i& levels, uint16_t* tile) {
    expand_levels<kBits>(from, levels, tile);
  }
};

} // namespace
} // namespace holdfast::cpu
