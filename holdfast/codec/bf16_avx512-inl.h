// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Planes of bf16 as floats: keys of 16 tokens at once, of fewer a token at a
// time; values a token at a time. Include it in vector_loops_avx512.cpp alone.

#pragma once

#include "holdfast/codec/dense_layout.h"
#include "holdfast/codec/lanes_avx512-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

/// 16 bf16 numbers.
inline __m512 widened(__m256i halves) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/// A tile: 16 tokens of 32 elements, of which 16 or 32 are in vectors `dim`
/// apart.
inline void read_key_tile(
    const uint16_t* tile,
    int64_t elements,
    int64_t dim,
    float* vectors) {
  __m512i pairs[16];
#pragma GCC unroll 16
  for (int p = 0; p < 16; ++p) {
    pairs[p] = load_words(tile + 32 * p);
  }
  transpose(pairs);
#pragma GCC unroll 16
  for (int t = 0; t < 16; ++t) {
    _mm512_storeu_ps(
        vectors + t * dim, widened(_mm512_castsi512_si256(pairs[t])));
    if (elements == 32) {
      _mm512_storeu_ps(
          vectors + t * dim + 16,
          widened(_mm512_extracti64x4_epi64(pairs[t], 1)));
    }
  }
}

/// One token's 16 elements from where they begin in a tile: pairs are 32
/// numbers apart.
inline void read_key(const uint16_t* from, float* vector) {
  for (int64_t i = 0; i < 8; ++i) {
    uint32_t pair;
    __builtin_memcpy(&pair, from + 32 * i, 4);
    const uint32_t both[] = {pair << 16, pair & 0xffff0000u};
    __builtin_memcpy(vector + 2 * i, both, 8);
  }
}

inline void
read_bf16_keys(const SlotRun& run, const uint16_t* plane, float* vectors) {
  const int64_t width = dense_key_width(DenseFormat::kBf16, run.dim);
  for (int64_t i = 0; i < run.count;) {
    const int64_t t = run.slot + i;
    const bool group = t % 16 == 0 && run.count - i >= 16;
    for (int64_t d = 0; d < run.dim; d += group ? 32 : 16) {
      const uint16_t* from = plane + tiled_key_index(width, t, d);
      float* vector = vectors + i * run.dim + d;
      group ? read_key_tile(from, run.dim - d >= 32 ? 32 : 16, run.dim, vector)
            : read_key(from, vector);
    }
    i += group ? 16 : 1;
  }
}

/// Two tokens are the halves of each lane.
inline void
read_bf16_values(const SlotRun& run, const uint16_t* plane, float* vectors) {
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t t = run.slot + i;
    const __m512i shift = _mm512_set1_epi32(t % 2 == 0 ? 16 : 0);
    for (int64_t d = 0; d < run.dim; d += 16) {
      const __m512i both =
          load_words(plane + tiled_value_index(run.dim, t - t % 2, d));
      _mm512_storeu_si512(
          vectors + i * run.dim + d,
          _mm512_and_si512(
              _mm512_sllv_epi32(both, shift),
              _mm512_set1_epi32(int(0xffff0000))));
    }
  }
}

} // namespace
} // namespace holdfast
