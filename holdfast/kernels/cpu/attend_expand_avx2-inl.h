// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles of codes (codec/code_tile.h) to bf16 tiles with AVX2, half a line (16
// words) at a time. Up to 5 bits a shift brings a row's codes down and byte
// shuffles look them up in tables of 16 levels, their low and high bytes apart;
// levels repeat beyond the code, so shorter codes need no mask of their own. 6
// and 8 bits become bf16 of 2^-112 times the integer. Include it in a kernel's
// .cpp file alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {
namespace {

inline __m256i half_line(const std::byte* from, int line, int half) {
  return _mm256_loadu_si256(
      reinterpret_cast<const __m256i*>(from + 64 * line + 32 * half));
}
inline void put_half(uint16_t* tile, int row, int half, __m256i x) {
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(tile + 32 * row + 16 * half), x);
}
/// mask ? a : b, bit by bit.
inline __m256i mix(int mask, __m256i a, __m256i b) {
  const __m256i m = _mm256_set1_epi16(static_cast<int16_t>(mask));
  return _mm256_or_si256(_mm256_and_si256(m, a), _mm256_andnot_si256(m, b));
}

/// 32 levels of 16 bits.
class LevelTable {
 public:
  explicit LevelTable(const uint16_t* levels) {
    alignas(16) uint8_t bytes[16];
    for (int part = 0; part < 4; ++part) { // low, high of 16; of the next 16
      for (int i = 0; i < 16; ++i) {
        bytes[i] =
            static_cast<uint8_t>(levels[16 * (part / 2) + i] >> part % 2 * 8);
      }
      table_[part] = _mm256_broadcastsi128_si256(
          _mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
    }
  }

  /// The levels of 16 codes: their low kBits bits, or more where levels repeat.
  template <int kBits>
  __m256i look_up(__m256i code) const {
    const __m256i low4 = _mm256_and_si256(code, _mm256_set1_epi16(15));
    const __m256i index = _mm256_or_si256(low4, _mm256_slli_epi16(low4, 8));
    const __m256i first = both(table_[0], table_[1], index);
    if constexpr (kBits <= 4) {
      return first;
    }
    const __m256i second = both(table_[2], table_[3], index);
    // Bit 4 on top of each byte says which.
    const __m256i bit4 = _mm256_and_si256(code, _mm256_set1_epi16(16));
    const __m256i choice = _mm256_or_si256(
        _mm256_slli_epi16(bit4, 3), _mm256_slli_epi16(bit4, 11));
    return _mm256_blendv_epi8(first, second, choice);
  }

 private:
  static __m256i both(__m256i low, __m256i high, __m256i index) {
    return mix(
        0xff,
        _mm256_shuffle_epi8(low, index),
        _mm256_shuffle_epi8(high, index));
  }
  __m256i table_[4];
};

template <int kBits>
inline void
expand_levels(const std::byte* from, const LevelTable& levels, uint16_t* tile) {
  constexpr int kWhole = 16 / kBits;
  for (int half = 0; half < 2; ++half) {
    __m256i line[kBits];
    for (int i = 0; i < kBits; ++i) {
      line[i] = half_line(from, i, half);
      for (int j = 0; j < kWhole; ++j) {
        const __m256i code = _mm256_srli_epi16(line[i], kBits * j);
        put_half(
            tile, i * kWhole + j, half, levels.template look_up<kBits>(code));
      }
    }
    if constexpr (kWhole * kBits < 16) { // row 15: the top bits of the lines
      __m256i code = _mm256_srli_epi16(line[0], 15);
      for (int i = 1; i < kBits; ++i) {
        code = mix(1 << i, _mm256_srli_epi16(line[i], 15 - i), code);
      }
      put_half(tile, 15, half, levels.template look_up<kBits>(code));
    }
  }
}

/// 16 integers below 256 to bf16 of 2^-112 times them.
inline __m256i narrow_integers(__m256i x) {
  const __m256 scale = _mm256_set1_ps(0x1p-112f);
  const __m256i even = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
  const __m256i odd = _mm256_srli_epi32(x, 16);
  const __m256i low =
      _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(even), scale));
  const __m256i high =
      _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(odd), scale));
  return _mm256_or_si256(_mm256_srli_epi32(low, 16), high);
}

inline void expand_bytes(const std::byte* from, uint16_t* tile) {
  const __m256i low = _mm256_set1_epi16(0xff);
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 8; ++i) {
      const __m256i line = half_line(from, i, half);
      put_half(tile, 2 * i, half, narrow_integers(_mm256_and_si256(line, low)));
      put_half(
          tile, 2 * i + 1, half, narrow_integers(_mm256_srli_epi16(line, 8)));
    }
  }
}

inline void expand_sixes(const std::byte* from, uint16_t* tile) {
  const __m256i low = _mm256_set1_epi16(0x3f);
  for (int half = 0; half < 2; ++half) {
    __m256i line[6];
    for (int i = 0; i < 6; ++i) {
      line[i] = half_line(from, i, half);
      const __m256i second = _mm256_srli_epi16(line[i], 6);
      put_half(
          tile, 2 * i, half, narrow_integers(_mm256_and_si256(line[i], low)));
      put_half(
          tile,
          2 * i + 1,
          half,
          narrow_integers(_mm256_and_si256(second, low)));
    }
    // Four bits are left in each word: three lines hold two rows' codes.
    for (int i = 0; i < 2; ++i) {
      const __m256i* l = line + 3 * i;
      const __m256i first =
          mix(0x30, _mm256_srli_epi16(l[1], 8), _mm256_srli_epi16(l[0], 12));
      const __m256i second =
          mix(0x3c, _mm256_srli_epi16(l[2], 10), _mm256_srli_epi16(l[1], 14));
      put_half(tile, 12 + 2 * i, half, narrow_integers(first));
      put_half(tile, 13 + 2 * i, half, narrow_integers(second));
    }
  }
}

/// `count` tiles of codes to `count` tiles [16][32] of what they stand for.
inline void expand_tiles_avx2(
    const CodedPlanes& codes,
    const std::byte* from,
    int64_t count,
    uint16_t* to) {
  const int64_t bytes = 64 * codes.bits;
  const auto each = [&](auto expand) {
    for (int64_t i = 0; i < count; ++i) {
      expand(from + i * bytes, to + i * 512);
    }
  };
  if (codes.bits == 8) {
    each([](const std::byte* f, uint16_t* t) { expand_bytes(f, t); });
    return;
  }
  if (codes.bits == 6) {
    each([](const std::byte* f, uint16_t* t) { expand_sixes(f, t); });
    return;
  }
  const LevelTable levels(codes.levels);
  const auto look_up = [&]<int kBits>() {
    each([&](const std::byte* f, uint16_t* t) {
      expand_levels<kBits>(f, levels, t);
    });
  };
  codes.bits == 2       ? look_up.template operator()<2>()
      : codes.bits == 3 ? look_up.template operator()<3>()
      : codes.bits == 4 ? look_up.template operator()<4>()
                        : look_up.template operator()<5>();
}

} // namespace
} // namespace holdfast::cpu
