// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tile products whose B are codes, with AVX2: codes become pairs of f32 in the
// registers that multiply them, and no bf16 tile is written. What they stand
// for, and so each bit of a sum, is what attend_expand_avx2-inl.h writes. Up to
// 4 rows of A meet a code when it is expanded; for more, its f32 stay in the
// first cache. Include it in a kernel's .cpp file alone.
//
// Instructions beside loads and 2 multiply-adds a row, for 16 codes (a pair of
// k, 8 columns): 4 bits 4.75 (two rows of a tile in one shuffle), 3 bits 7, 2
// bits 8, 5 bits 13, 8 bits 5, 6 bits 6.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_codes_avx2-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/tile_avx2-inl.h"

namespace holdfast::cpu {
namespace {

/// Codes of a tile to pairs. Calls f.operator()<h>(row, pairs) for the 16 rows
/// in order, each for the halves h below kHalves after `from`.
template <int kBits>
class CodePairs {
 public:
  explicit CodePairs(const CodedPlanes& codes) : levels_(codes.levels) {}

  template <int kHalves, class F>
  [[gnu::always_inline]] void each_row(const std::byte* from, F f) const {
    each_code_row<kBits, kHalves>(
        from,
        [&]<int kHalf>(int row, __m256i codes) __attribute__((always_inline)) {
          const __m256i words = levels_.look_up(codes);
          const __m256i zero = _mm256_setzero_si256();
          f.template operator()<kHalf>(
              row,
              Avx2Pairs{
                  _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, words)),
                  _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, words))});
        });
  }

 private:
  LevelTable<kBits> levels_;
};

/// A word of 4 codes is two words of 2 bytes: codes of rows 4i and 4i + 2 in
/// one's bytes, of 4i + 1 and 4i + 3 in the other's.
template <>
class CodePairs<4> {
 public:
  explicit CodePairs(const CodedPlanes& codes) : levels_(codes.levels) {}

  template <int kHalves, class F>
  [[gnu::always_inline]] void each_row(const std::byte* from, F f) const {
    for (int i = 0; i < 4; ++i) {
      repeat<kHalves>([&]<int kHalf>() __attribute__((always_inline)) {
        const __m256i line = half_line(from, i, kHalf);
        __m256i even[2], odd[2];
        levels_.look_up_bytes(nibbles(line), even);
        levels_.look_up_bytes(nibbles(_mm256_srli_epi16(line, 4)), odd);
        f.template operator()<kHalf>(4 * i, first(even));
        f.template operator()<kHalf>(4 * i + 1, first(odd));
        f.template operator()<kHalf>(4 * i + 2, second(even));
        f.template operator()<kHalf>(4 * i + 3, second(odd));
      });
    }
  }

 private:
  static __m256i nibbles(__m256i x) {
    return _mm256_and_si256(x, _mm256_set1_epi8(15));
  }
  static Avx2Pairs first(const __m256i (&both)[2]) {
    return {
        _mm256_castsi256_ps(_mm256_slli_epi32(both[0], 16)),
        _mm256_castsi256_ps(_mm256_slli_epi32(both[1], 16))};
  }
  static Avx2Pairs second(const __m256i (&both)[2]) {
    const __m256i high = _mm256_set1_epi32(static_cast<int>(0xffff0000));
    return {
        _mm256_castsi256_ps(_mm256_and_si256(both[0], high)),
        _mm256_castsi256_ps(_mm256_and_si256(both[1], high))};
  }

  LevelTable<4> levels_;
};

/// 6 and 8 bits stand for 2^-112 times the code: 2^-89 with the code in its
/// lowest bits, without the 2^-89. Exact.
template <int kBits>
requires(kBits > 5) class CodePairs<kBits> {
 public:
  explicit CodePairs(const CodedPlanes&) {}

  template <int kHalves, class F>
  [[gnu::always_inline]] void each_row(const std::byte* from, F f) const {
    each_code_row<kBits, kHalves>(
        from,
        [&]<int kHalf>(int row, __m256i codes) __attribute__((always_inline)) {
          const __m256 one = _mm256_set1_ps(0x1p-89f);
          const __m256i top = _mm256_set1_epi16(0x1300); // of its bits
          f.template operator()<kHalf>(
              row,
              Avx2Pairs{
                  _mm256_sub_ps(
                      _mm256_castsi256_ps(_mm256_unpacklo_epi16(codes, top)),
                      one),
                  _mm256_sub_ps(
                      _mm256_castsi256_ps(_mm256_unpackhi_epi16(codes, top)),
                      one)});
        });
  }
};

/// A tile's pairs, [2 halves][16 rows][low, high], from a half on.
struct KeptRows {
  const float* pairs_of_half;

  KeptRows second_half() const {
    return {pairs_of_half + 256};
  }
  template <int kHalf>
  Avx2Pairs pairs(int p) const {
    const float* at = pairs_of_half + 256 * kHalf + 16 * p;
    return {_mm256_load_ps(at), _mm256_load_ps(at + 8)};
  }
};

class Avx2CodeTiles : public Avx2Tiles {
 public:
  using Avx2Tiles::Avx2Tiles;
  static constexpr bool kReadsCodes = true;

  /// dot() with the tile of codes at `from` as B.
  template <int kC, int kA>
  void dot_codes(const Run&, const CodedPlanes& codes, const std::byte* from) {
    multiply_codes(codes, from, wide_[kA][0], c_[kC][0]);
  }

 private:
  void multiply_codes(
      const CodedPlanes& codes,
      const std::byte* from,
      const float* a,
      float* c) {
    switch (codes.bits) {
      case 2:
        return multiply_bits<2>(codes, from, a, c);
      case 3:
        return multiply_bits<3>(codes, from, a, c);
      case 4:
        return multiply_bits<4>(codes, from, a, c);
      case 5:
        return multiply_bits<5>(codes, from, a, c);
      case 6:
        return multiply_bits<6>(codes, from, a, c);
      default:
        return multiply_bits<8>(codes, from, a, c);
    }
  }

  /// A call of its own, as multiply() is.
  template <int kBits>
  [[gnu::noinline]] void multiply_bits(
      const CodedPlanes& codes,
      const std::byte* from,
      const float* a,
      float* c) {
    const CodePairs<kBits> pairs(codes);
    switch (rows_) {
      case 1:
        return rows_of<1, 2>(pairs, from, a, c);
      case 2:
        return rows_of<2, 2>(pairs, from, a, c);
      case 3:
        rows_of<3, 1>(pairs, from, a, c);
        return rows_of<3, 1>(pairs, from + 32, a, c + 8);
      case 4:
        rows_of<4, 1>(pairs, from, a, c);
        return rows_of<4, 1>(pairs, from + 32, a, c + 8);
      default:
        break;
    }
    rows_of<4, 1, true>(pairs, from, a, c, kept_);
    rows_of<4, 1, true>(pairs, from + 32, a, c + 8, kept_ + 256);
    multiply(c + 4 * kTileColumns, a + 4 * kTileK, KeptRows{kept_}, rows_ - 4);
  }

  /// kRows rows by 8 kHalves columns.
  template <int kRows, int kHalves, bool kKeep = false, class Pairs>
  [[gnu::always_inline]] static inline void rows_of(
      const Pairs& pairs,
      const std::byte* from,
      const float* a,
      float* c,
      float* kept = nullptr) {
    Avx2Sums<kRows, kHalves> sums;
    pairs.template each_row<kHalves>(
        from,
        [&]<int kHalf>(int p, Avx2Pairs b) __attribute__((always_inline)) {
          if constexpr (kKeep) {
            _mm256_store_ps(kept + 16 * p, b.low);
            _mm256_store_ps(kept + 16 * p + 8, b.high);
          }
          sums.template add<kHalf>(a, p, b);
        });
    sums.add_to(c);
  }

  alignas(64) float kept_[2 * 16 * 16];
};

} // namespace
} // namespace holdfast::cpu
