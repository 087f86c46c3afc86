// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What both AVX-512 forms of the expansion share: the codes of a tile's rows,
// 32 lanes of 16 bits at a time. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/intrinsics.h"

namespace holdfast::cpu {
namespace {

/// Codes of row kRow from the tile's words; bits above the code are garbage.
template <int kBits, int kRow>
[[gnu::always_inline]] inline __m512i code_row(const __m512i* words) {
  using Codes = TileCodes<kBits>;
  if constexpr (kRow < Codes::kDirectRows) {
    constexpr int kShift = kRow % Codes::kPerWord * kBits;
    const __m512i word = words[kRow / Codes::kPerWord];
    return kShift == 0 ? word : _mm512_srli_epi16(word, kShift);
  } else {
    constexpr int kSpare = Codes::kSpareBits;
    constexpr int kFirst = (kRow - Codes::kDirectRows) * kBits;
    __m512i code = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int done = 0; done < kBits;) {
      const int at = (kFirst + done) % kSpare;
      const int take = kSpare - at < kBits - done ? kSpare - at : kBits - done;
      const auto shift = static_cast<unsigned>(Codes::kDirectRows + at - done);
      const __m512i piece =
          _mm512_srli_epi16(words[(kFirst + done) / kSpare], shift);
      const __m512i mask =
          _mm512_set1_epi16(static_cast<int16_t>(((1 << take) - 1) << done));
      code = _mm512_ternarylogic_epi64(code, piece, mask, 0xf8); // a | b & c
      done += take;
    }
    return code;
  }
}

/// h as fp16 bits to bf16 bits: the sign stays, the magnitude loses 3 bits.
/// The rounding multiplication gives (h + 4) >> 3, sign bits on top.
[[gnu::always_inline]] inline __m512i f16_to_weight(__m512i h) {
  return _mm512_and_si512(
      _mm512_mulhrs_epi16(h, _mm512_set1_epi16(1 << 12)),
      _mm512_set1_epi16(static_cast<int16_t>(0x8fff)));
}

inline __m512i duplicated(const uint8_t* halves) {
  const __m512i wide = _mm512_cvtepu16_epi32(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves)));
  return _mm512_or_si512(wide, _mm512_slli_epi32(wide, 16));
}

} // namespace
} // namespace holdfast::cpu
