// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/weight_pack.h"

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/intrinsics.h"
#include "holdfast/kernels/cpu/weight_pack_sort-inl.h"

namespace holdfast::cpu {

namespace {

/// rows[p], lane 2c + j: code of column c, k 2p + j.
void load_rows(const uint8_t* codes, int64_t stride, int bits, __m512i* rows) {
  __m256i r[16];
  for (int c = 0; c < 16; ++c) {
    r[c] = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(codes + c * stride));
  }
  sort_elements(
      r,
      [](__m256i a, __m256i b) { return _mm256_unpacklo_epi16(a, b); },
      [](__m256i a, __m256i b) { return _mm256_unpackhi_epi16(a, b); });
  const __m512i mask = _mm512_set1_epi16(static_cast<int16_t>((1 << bits) - 1));
  for (int e = 0; e < 8; ++e) {
    const __m256i low = _mm256_permute2x128_si256(r[2 * e], r[2 * e + 1], 0x20);
    const __m256i high =
        _mm256_permute2x128_si256(r[2 * e], r[2 * e + 1], 0x31);
    rows[e] = _mm512_and_si512(_mm512_cvtepu8_epi16(low), mask);
    rows[e + 8] = _mm512_and_si512(_mm512_cvtepu8_epi16(high), mask);
  }
}

template <int kBits>
void pack_words(const __m512i* rows, uint8_t* tile) {
  using Codes = TileCodes<kBits>;
  const __m512i one = _mm512_set1_epi16(1);
  for (int w = 0; w < kBits; ++w) {
    __m512i word = _mm512_setzero_si512();
    for (int s = 0; s < Codes::kPerWord; ++s) {
      word = _mm512_or_si512(
          word, _mm512_slli_epi16(rows[w * Codes::kPerWord + s], s * kBits));
    }
    for (int i = 0; i < Codes::kSpareBits; ++i) {
      const int at = w * Codes::kSpareBits + i;
      const __m512i bit = _mm512_and_si512(
          _mm512_srli_epi16(
              rows[Codes::kDirectRows + at / kBits],
              static_cast<unsigned>(at % kBits)),
          one);
      word = _mm512_or_si512(
          word,
          _mm512_slli_epi16(
              bit, static_cast<unsigned>(Codes::kDirectRows + i)));
    }
    _mm512_storeu_si512(tile + 64 * w, word);
  }
}

} // namespace

void pack_code_tile_avx512(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile) {
  __m512i rows[16];
  load_rows(codes, stride, bits, rows);
  pack_with_bits(bits, [&](auto n) { pack_words<n>(rows, tile); });
}

void pack_bf16_tile_avx512(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile) {
  __m512i r[16], t[16];
  for (int c = 0; c < 16; ++c) {
    r[(c & 3) * 4 + (c >> 2)] = _mm512_loadu_si512(values + c * stride);
  }
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[i], r[i + 8]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 8]);
  }
  for (int i = 0; i < 8; ++i) {
    r[2 * i] = _mm512_unpacklo_epi32(t[i], t[i + 8]);
    r[2 * i + 1] = _mm512_unpackhi_epi32(t[i], t[i + 8]);
  }
  // r[4g + e], 128-bit part q: columns 4g..4g + 3 of pair 4q + e.
  for (int e = 0; e < 4; ++e) {
    const __m512i a = _mm512_shuffle_i32x4(r[e], r[4 + e], 0x88); // q 0, 2
    const __m512i b = _mm512_shuffle_i32x4(r[e], r[4 + e], 0xdd); // q 1, 3
    const __m512i c = _mm512_shuffle_i32x4(r[8 + e], r[12 + e], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(r[8 + e], r[12 + e], 0xdd);
    uint16_t* out = tile + 32 * e;
    _mm512_storeu_si512(out, _mm512_shuffle_i32x4(a, c, 0x88));
    _mm512_storeu_si512(out + 128, _mm512_shuffle_i32x4(b, d, 0x88));
    _mm512_storeu_si512(out + 256, _mm512_shuffle_i32x4(a, c, 0xdd));
    _mm512_storeu_si512(out + 384, _mm512_shuffle_i32x4(b, d, 0xdd));
  }
}

} // namespace holdfast::cpu
