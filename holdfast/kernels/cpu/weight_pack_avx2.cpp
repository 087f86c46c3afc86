// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/weight_pack.h"

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/weight_pack_avx2-inl.h"

namespace holdfast::cpu {

namespace {

/// A row of 32 lanes of 16 bits.
struct Row {
  __m256i half[2];
};

/// rows[p], lane 2c + j: code of column c, k 2p + j.
void load_rows(const uint8_t* codes, int64_t stride, int bits, Row* rows) {
  __m256i r[16];
  for (int c = 0; c < 16; ++c) {
    r[c] = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(codes + c * stride));
  }
  sort_elements(r);
  const __m256i mask = _mm256_set1_epi16(static_cast<int16_t>((1 << bits) - 1));
  for (int e = 0; e < 8; ++e) {
    for (int h = 0; h < 2; ++h) {
      const __m256i both = r[2 * e + h];
      rows[e].half[h] = _mm256_and_si256(
          _mm256_cvtepu8_epi16(_mm256_castsi256_si128(both)), mask);
      rows[e + 8].half[h] = _mm256_and_si256(
          _mm256_cvtepu8_epi16(_mm256_extracti128_si256(both, 1)), mask);
    }
  }
}

template <int kBits>
__m256i pack_word(const Row* rows, int w, int h) {
  using Codes = TileCodes<kBits>;
  const __m256i one = _mm256_set1_epi16(1);
  __m256i word = _mm256_setzero_si256();
  for (int s = 0; s < Codes::kPerWord; ++s) {
    word = _mm256_or_si256(
        word,
        _mm256_slli_epi16(rows[w * Codes::kPerWord + s].half[h], s * kBits));
  }
  for (int i = 0; i < Codes::kSpareBits; ++i) {
    const int at = w * Codes::kSpareBits + i;
    const __m256i bit = _mm256_and_si256(
        _mm256_srli_epi16(
            rows[Codes::kDirectRows + at / kBits].half[h], at % kBits),
        one);
    word =
        _mm256_or_si256(word, _mm256_slli_epi16(bit, Codes::kDirectRows + i));
  }
  return word;
}

template <int kBits>
void pack_words(const Row* rows, uint8_t* tile) {
  for (int w = 0; w < kBits; ++w) {
    for (int h = 0; h < 2; ++h) {
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(tile + 64 * w + 32 * h),
          pack_word<kBits>(rows, w, h));
    }
  }
}

/// Eight columns of eight pairs of k: out[p] is pair p of all columns.
void transpose_pairs(const uint16_t* values, int64_t stride, uint16_t* tile) {
  __m256i r[8], t[8];
  for (int c = 0; c < 8; ++c) {
    r[c] = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(values + c * stride));
  }
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      r[4 * i + 2 * j] = _mm256_unpacklo_epi64(t[4 * i + j], t[4 * i + 2 + j]);
      r[4 * i + 2 * j + 1] =
          _mm256_unpackhi_epi64(t[4 * i + j], t[4 * i + 2 + j]);
    }
  }
  for (int p = 0; p < 4; ++p) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(tile + 32 * p),
        _mm256_permute2x128_si256(r[p], r[4 + p], 0x20));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(tile + 32 * (p + 4)),
        _mm256_permute2x128_si256(r[p], r[4 + p], 0x31));
  }
}

} // namespace

void pack_code_tile_avx2(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile) {
  Row rows[16];
  load_rows(codes, stride, bits, rows);
  pack_with_bits(bits, [&](auto n) { pack_words<n>(rows, tile); });
}

void pack_bf16_tile_avx2(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile) {
  for (int columns = 0; columns < 2; ++columns) {
    for (int pairs = 0; pairs < 2; ++pairs) {
      transpose_pairs(
          values + 8 * columns * stride + 16 * pairs,
          stride,
          tile + 32 * 8 * pairs + 16 * columns);
    }
  }
}

} // namespace holdfast::cpu
