// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes of tiles (codec/code_tile.h) with AVX2: a row of a tile as words, 16
// codes (half a line) at a time, and what they stand for as bf16. Up to 5 bits
// byte shuffles look levels up in tables of 16, their low and high bytes apart.
// Include it in a kernel's .cpp file alone.

#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace holdfast::cpu {
namespace {

/// Calls f.operator()<i>() for i below kCount.
template <int kCount, class F>
[[gnu::always_inline]] inline void repeat(F f) {
  [&]<int... kI>(std::integer_sequence<int, kI...>)
      __attribute__((always_inline)) {
    (f.template operator()<kI>(), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

inline __m256i half_line(const std::byte* from, int line, int half) {
  return _mm256_loadu_si256(
      reinterpret_cast<const __m256i*>(from + 64 * line + 32 * half));
}
/// mask ? a : b, bit by bit.
inline __m256i mix(int mask, __m256i a, __m256i b) {
  const __m256i m = _mm256_set1_epi16(static_cast<int16_t>(mask));
  return _mm256_or_si256(_mm256_and_si256(m, a), _mm256_andnot_si256(m, b));
}
/// The low byte of each word of a, the high one of b.
inline __m256i mix_bytes(__m256i a, __m256i b) {
  return _mm256_blendv_epi8(
      a, b, _mm256_set1_epi16(static_cast<int16_t>(0xff00)));
}

/// Calls f.operator()<h>(row, codes) for the 16 rows of a tile in order, each
/// for the halves h below kHalves after `from`. Codes of up to 5 bits have
/// others' bits above them, those of 6 and 8 none.
template <int kBits, int kHalves, class F>
[[gnu::always_inline]] inline void each_code_row(const std::byte* from, F f) {
  constexpr int kWhole = 16 / kBits;
  for (int i = 0; i < kBits; ++i) {
    repeat<kWhole>([&]<int kJ>() __attribute__((always_inline)) {
      repeat<kHalves>([&]<int kHalf>() __attribute__((always_inline)) {
        __m256i code = _mm256_srli_epi16(half_line(from, i, kHalf), kBits * kJ);
        if constexpr (kBits > 5 && kBits * (kJ + 1) < 16) {
          code = _mm256_and_si256(code, _mm256_set1_epi16((1 << kBits) - 1));
        }
        f.template operator()<kHalf>(kWhole * i + kJ, code);
      });
    });
  }
  if constexpr (kBits == 3 || kBits == 5) { // row 15: the lines' top bits
    repeat<kHalves>([&]<int kHalf>() __attribute__((always_inline)) {
      __m256i code = _mm256_srli_epi16(half_line(from, 0, kHalf), 15);
      repeat<kBits - 1>([&]<int kI>() __attribute__((always_inline)) {
        const __m256i line = half_line(from, kI + 1, kHalf);
        code = mix(2 << kI, _mm256_srli_epi16(line, 14 - kI), code);
      });
      f.template operator()<kHalf>(15, code);
    });
  }
  if constexpr (kBits == 6) {
    // Four bits are left in each word: three lines hold two rows' codes.
    repeat<4>([&]<int kRow>() __attribute__((always_inline)) {
      repeat<kHalves>([&]<int kHalf>() __attribute__((always_inline)) {
        constexpr int kLine = kRow / 2 * 3 + kRow % 2;
        const __m256i low = half_line(from, kLine, kHalf);
        const __m256i high = half_line(from, kLine + 1, kHalf);
        f.template operator()<kHalf>(
            12 + kRow,
            kRow % 2 == 0 ? mix(0x30,
                                _mm256_srli_epi16(high, 8),
                                _mm256_srli_epi16(low, 12))
                          : mix(0x3c,
                                _mm256_srli_epi16(high, 10),
                                _mm256_srli_epi16(low, 14)));
      });
    });
  }
}

/// What codes of up to 5 bits stand for.
template <int kBits>
class LevelTable {
 public:
  /// levels: [32] bf16, of code i % 2^kBits.
  explicit LevelTable(const uint16_t* levels) {
    for (int i = 0; i < (kBits == 5 ? 2 : 1); ++i) {
      const __m256i a = eight(levels + 16 * i);
      const __m256i b = eight(levels + 16 * i + 8);
      low_[i] = _mm256_packus_epi16(low_bytes(a), low_bytes(b));
      high_[i] =
          _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
      if constexpr (kBits == 3) { // 8 low bytes, 8 high ones
        low_[0] = _mm256_packus_epi16(low_bytes(a), _mm256_srli_epi16(a, 8));
      }
    }
  }

  /// 16 codes, with any bits above them, to bf16.
  __m256i look_up(__m256i codes) const {
    const __m256i code =
        _mm256_and_si256(codes, _mm256_set1_epi16((1 << kBits) - 1));
    const __m256i twice = // in both bytes
        _mm256_mullo_epi16(code, _mm256_set1_epi16(0x0101));
    if constexpr (kBits == 3) {
      return _mm256_shuffle_epi8(
          low_[0], _mm256_or_si256(twice, _mm256_set1_epi16(0x0800)));
    }
    const __m256i first = mix_bytes(
        _mm256_shuffle_epi8(low_[0], twice),
        _mm256_shuffle_epi8(high_[0], twice));
    if constexpr (kBits < 5) {
      return first;
    }
    const __m256i second = mix_bytes(
        _mm256_shuffle_epi8(low_[1], twice),
        _mm256_shuffle_epi8(high_[1], twice));
    // Bit 4 on top of each byte says which.
    return _mm256_blendv_epi8(first, second, _mm256_slli_epi16(twice, 3));
  }

  /// A code in each byte, below 16, to two bf16 side by side: of the first code
  /// of a word and of the second. 8 words at a time: of 0 to 3 of each half
  /// register, and of 4 to 7.
  void look_up_bytes(__m256i codes, __m256i (&pairs)[2]) const {
    static_assert(kBits == 4);
    const __m256i low = _mm256_shuffle_epi8(low_[0], codes);
    const __m256i high = _mm256_shuffle_epi8(high_[0], codes);
    pairs[0] = _mm256_unpacklo_epi8(low, high);
    pairs[1] = _mm256_unpackhi_epi8(low, high);
  }

 private:
  static __m256i eight(const uint16_t* levels) {
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels)));
  }
  static __m256i low_bytes(__m256i words) {
    return _mm256_and_si256(words, _mm256_set1_epi16(0xff));
  }

  __m256i low_[2];
  __m256i high_[2];
};

} // namespace
} // namespace holdfast::cpu
