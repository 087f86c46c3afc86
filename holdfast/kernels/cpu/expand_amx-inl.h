// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes to bf16 with AVX-512 FP16: per 32 weights a shift, a table lookup or a
// conversion, one fused multiply-add, and three operations to bf16.
// expand-inl.h defines the result. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/expand_vector-inl.h"

namespace holdfast::cpu {
namespace {

template <int kBits, bool kOffsets>
class ExpandAmx {
 public:
  /// run() fetches the tile kFetchAhead bytes on, a line at a time between its
  /// rows: a burst would fill the miss buffers that the codes need.
  static constexpr bool kFetches = true;
  static constexpr bool kTable = kBits <= 5;
  static constexpr float kZero = kOffsets ? 0.0f : float(1 << (kBits - 1));

  [[gnu::always_inline]] static void
  run(const uint8_t* tile, const TileScales& scales, uint16_t* out) {
    __m512i words[kBits];
    for (int w = 0; w < kBits; ++w) {
      words[w] = _mm512_loadu_si512(tile + 64 * w);
    }
    const __m512i table = make_table();
    __m512h offset[2];
    __m512h scale[2];
    scale[0] = scale[1] = load(scales, 0, &offset[0]);
    offset[1] = offset[0];
    if (scales.scales[1] != scales.scales[0]) {
      scale[1] = load(scales, 1, &offset[1]);
    }
    rows<0>(words, table, scale, offset, tile, out);
  }

 private:
  static __m512h load(const TileScales& scales, int half, __m512h* offset) {
    const __m512h scale = _mm512_castsi512_ph(duplicated(scales.scales[half]));
    if constexpr (kOffsets) {
      *offset = _mm512_castsi512_ph(duplicated(scales.offsets[half]));
    } else if constexpr (!kTable) {
      *offset = _mm512_mul_ph(scale, _mm512_set1_ph(-kZero)); // exact
    }
    return scale;
  }

  /// fp16(code - zero) by code; the permutation looks at five bits alone, so a
  /// narrower table is repeated.
  static __m512i make_table() {
    alignas(64) static constexpr auto kValues = [] {
      struct {
        _Float16 value[32];
      } t{};
      for (int i = 0; i < 32; ++i) {
        t.value[i] = static_cast<_Float16>(
            static_cast<float>(i & ((1 << kBits) - 1)) - kZero);
      }
      return t;
    }();
    return _mm512_load_si512(&kValues);
  }

  template <int kRow>
  [[gnu::always_inline]] static void rows(
      const __m512i* words,
      __m512i table,
      const __m512h* scale,
      const __m512h* offset,
      const uint8_t* tile,
      uint16_t* out) {
    if constexpr (kRow * kBits % 16 < kBits) {
      constexpr int kLineAt = 64 * (kRow * kBits / 16);
      _mm_prefetch(
          reinterpret_cast<const char*>(tile + kFetchAhead + kLineAt),
          _MM_HINT_T1);
    }
    const __m512i raw = code_row<kBits, kRow>(words);
    __m512h code;
    if constexpr (kTable) {
      code = _mm512_castsi512_ph(_mm512_permutexvar_epi16(raw, table));
    } else {
      code = _mm512_cvtepu16_ph(_mm512_and_si512(
          raw, _mm512_set1_epi16(static_cast<int16_t>((1 << kBits) - 1))));
    }
    const __m512h h = kTable && !kOffsets
        ? _mm512_mul_ph(code, scale[kRow / 8])
        : _mm512_fmadd_ph(code, scale[kRow / 8], offset[kRow / 8]);
    _mm512_store_si512(out + 32 * kRow, f16_to_weight(_mm512_castph_si512(h)));
    if constexpr (kRow < 15) {
      rows<kRow + 1>(words, table, scale, offset, tile, out);
    }
  }
};

} // namespace
} // namespace holdfast::cpu
