// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Attention's lanes on AVX-512, around either kind of tiles. Include it in a
// kernel's .cpp file alone.

#pragma once

#include <cstdint>

#include "holdfast/kernels/cpu/attend_expand_avx512-inl.h"
#include "holdfast/kernels/cpu/intrinsics.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

template <class TilesOf>
struct Avx512Isa {
  using V = Avx512F32;
  using Tiles = TilesOf;

  static V load_f16(const uint16_t* from) {
    return {_mm512_cvtph_ps(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  static V load_bf16(const uint16_t* from) {
    const __m512i wide = _mm512_cvtepu16_epi32(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
  }
  static void expand(
      const CodedPlanes& codes,
      const std::byte* from,
      int64_t count,
      uint16_t* to,
      FetchList& fetch) {
    expand_tiles<ExpandAvx512Tile>(codes, from, count, to, fetch);
  }
  /// As base/bits.h rounds: to nearest even; a NaN keeps sign and payload.
  static V narrow_bf16(V x, uint16_t* to) {
    const __m512i bits = _mm512_castps_si512(x.v);
    const __m512i top = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
    __m512i high = _mm512_srli_epi32(
        _mm512_add_epi32(
            _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd),
        16);
    const __mmask16 nan = _mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q);
    high = _mm512_mask_mov_epi32(
        high, nan, quiet(top, _mm512_set1_epi32(0x7f), 0x40));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(high));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(high, 16))};
  }
  /// 32 numbers that are not NaN.
  static void narrow_weights(V& low, V& high, uint16_t* to) {
#if defined(__AVX512BF16__)
    const __m512i both =
        reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high.v, low.v));
    _mm512_storeu_si512(to, both);
#else
    narrow_bf16(flushed(low), to);
    narrow_bf16(flushed(high), to + 16);
    const __m512i both = _mm512_loadu_si512(to);
#endif
    low.v = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
    high.v = _mm512_castsi512_ps(
        _mm512_and_si512(both, _mm512_set1_epi32(int(0xffff0000))));
  }
  static void narrow_f16(V x, uint16_t* to) {
    const __m256i halves =
        _mm512_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __mmask16 nan = _mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q);
    const __m512i bits = _mm512_castps_si512(x.v);
    const __m512i sign = _mm512_and_si512(
        _mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x8000));
    const __m512i payload =
        _mm512_and_si512(_mm512_srli_epi32(bits, 13), _mm512_set1_epi32(0x3ff));
    const __m512i kept = _mm512_or_si512(
        _mm512_or_si512(sign, _mm512_set1_epi32(0x7c00)),
        quiet(payload, _mm512_set1_epi32(0x3ff), 0x200));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to),
        _mm256_mask_mov_epi16(halves, nan, _mm512_cvtepi32_epi16(kept)));
  }
  static V select(uint16_t bits, V a, V b) {
    return {_mm512_mask_mov_ps(b.v, bits, a.v)};
  }
  static float largest(V x) {
    return _mm512_reduce_max_ps(x.v);
  }

 private:
  /// A NaN's high bits, with `bit` where no bit under `mask` is left.
  static __m512i quiet(__m512i high, __m512i mask, int bit) {
    return _mm512_mask_or_epi32(
        high,
        _mm512_testn_epi32_mask(high, mask),
        high,
        _mm512_set1_epi32(bit));
  }
};

} // namespace
} // namespace holdfast::cpu

#include "holdfast/kernels/cpu/attend-inl.h"
