// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes to bf16 with AVX2 and F16C: as with AVX-512, sums in f32 are made odd
// where they are not exact, so that the rounding to fp16 is the only one.
// expand-inl.h defines the result. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {
namespace {

/// a + b with the last bit set where the sum is not exact.
inline __m256 add_to_odd(__m256 a, __m256 b) {
  const __m256 sum = _mm256_add_ps(a, b);
  const __m256 b_part = _mm256_sub_ps(sum, a);
  const __m256 a_part = _mm256_sub_ps(sum, b_part);
  const __m256 error =
      _mm256_add_ps(_mm256_sub_ps(a, a_part), _mm256_sub_ps(b, b_part));
  const __m256i inexact = _mm256_castps_si256(
      _mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_UQ));
  // The error's sign against the sum's: the sum was rounded away from zero.
  const __m256i away =
      _mm256_srai_epi32(_mm256_castps_si256(_mm256_xor_ps(error, sum)), 31);
  const __m256i bits = _mm256_add_epi32( // a mask is -1
      _mm256_castps_si256(sum),
      _mm256_and_si256(inexact, away));
  return _mm256_castsi256_ps(
      _mm256_or_si256(bits, _mm256_and_si256(inexact, _mm256_set1_epi32(1))));
}

/// Half a tile: 8 columns. A row is 16 lanes of 16 bits.
template <int kBits, bool kOffsets>
class ExpandHalfAvx2 {
 public:
  ExpandHalfAvx2(const uint8_t* tile, int half) : half_(half) {
    for (int w = 0; w < kBits; ++w) {
      words_[w] = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(tile + 64 * w + 32 * half));
    }
  }

  template <int kRow>
  [[gnu::always_inline]] inline void
  rows(const TileScales& scales, uint16_t* out) const {
    const __m256 scale = widened_f16(scales.scales[kRow / 8] + 16 * half_);
    const __m256 offset = kOffsets
        ? widened_f16(scales.offsets[kRow / 8] + 16 * half_)
        : _mm256_setzero_ps();
    eight<kRow>(scale, offset, out + 16 * half_);
  }

 private:
  /// Codes of row kRow; bits above the code are garbage.
  template <int kRow>
  [[gnu::always_inline]] inline __m256i code_row() const {
    using Codes = TileCodes<kBits>;
    if constexpr (kRow < Codes::kDirectRows) {
      return _mm256_srli_epi16(
          words_[kRow / Codes::kPerWord], kRow % Codes::kPerWord * kBits);
    } else {
      constexpr int kSpare = Codes::kSpareBits;
      constexpr int kFirst = (kRow - Codes::kDirectRows) * kBits;
      __m256i code = _mm256_setzero_si256();
#pragma GCC unroll 8
      for (int done = 0; done < kBits;) {
        const int at = (kFirst + done) % kSpare;
        const int take =
            kSpare - at < kBits - done ? kSpare - at : kBits - done;
        const __m256i piece = _mm256_srli_epi16(
            words_[(kFirst + done) / kSpare], Codes::kDirectRows + at - done);
        const __m256i mask =
            _mm256_set1_epi16(static_cast<int16_t>(((1 << take) - 1) << done));
        code = _mm256_or_si256(code, _mm256_and_si256(piece, mask));
        done += take;
      }
      return code;
    }
  }

  /// fp16 bits in the low halves of 32-bit lanes.
  [[gnu::always_inline]] static inline __m256i
  weigh(__m256i code, __m256 scale, __m256 offset) {
    constexpr int kZero = kOffsets ? 0 : 1 << (kBits - 1);
    const __m256 centred =
        _mm256_cvtepi32_ps(_mm256_sub_epi32(code, _mm256_set1_epi32(kZero)));
    __m256 value = _mm256_mul_ps(centred, scale); // exact: 19 bits
    if constexpr (kOffsets) {
      value = add_to_odd(value, offset);
    }
    return _mm256_cvtepu16_epi32(
        _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }

  template <int kRow>
  [[gnu::always_inline]] inline void
  eight(__m256 scale, __m256 offset, uint16_t* out) const {
    const __m256i mask = _mm256_set1_epi32((1 << kBits) - 1);
    const __m256i raw = code_row<kRow>();
    const __m256i even = weigh(_mm256_and_si256(raw, mask), scale, offset);
    const __m256i odd = weigh(
        _mm256_and_si256(_mm256_srli_epi32(raw, 16), mask), scale, offset);
    const __m256i h = _mm256_or_si256(even, _mm256_slli_epi32(odd, 16));
    // The rounding multiplication gives (h + 4) >> 3, sign bits on top.
    const __m256i weight = _mm256_and_si256(
        _mm256_mulhrs_epi16(h, _mm256_set1_epi16(1 << 12)),
        _mm256_set1_epi16(static_cast<int16_t>(0x8fff)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32 * kRow), weight);
    if constexpr (kRow % 8 != 7) {
      eight<kRow + 1>(scale, offset, out);
    }
  }

  int half_;
  __m256i words_[kBits];
};

template <int kBits, bool kOffsets>
struct ExpandAvx2 {
  static constexpr bool kFetches = false;
  static void
  run(const uint8_t* tile, const TileScales& scales, uint16_t* out) {
    for (int half = 0; half < 2; ++half) {
      const ExpandHalfAvx2<kBits, kOffsets> codes(tile, half);
      codes.template rows<0>(scales, out);
      codes.template rows<8>(scales, out);
    }
  }
};

} // namespace
} // namespace holdfast::cpu
