// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_code_tiles_avx2-inl.h"
#include "holdfast/kernels/cpu/attend_expand_avx2-inl.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/narrow_avx2-inl.h"

namespace holdfast::cpu {
namespace {

struct Avx2Isa {
  using V = Avx2F32;
  using Tiles = Avx2CodeTiles;

  static V load_f16(const uint16_t* from) {
    return {widened_f16(from), widened_f16(from + 8)};
  }
  static V load_bf16(const uint16_t* from) {
    return {widened_bf16(from), widened_bf16(from + 8)};
  }
  static void expand(
      const CodedPlanes& codes,
      const std::byte* from,
      int64_t count,
      uint16_t* to,
      FetchList& fetch) {
    expand_tiles_avx2(codes, from, count, to, fetch);
  }
  static V narrow_bf16(V x, uint16_t* to) {
    const __m256i low = narrowed_bf16(x.low);
    const __m256i high = narrowed_bf16(x.high);
    store_halves(low, to);
    store_halves(high, to + 8);
    return {
        _mm256_castsi256_ps(_mm256_slli_epi32(low, 16)),
        _mm256_castsi256_ps(_mm256_slli_epi32(high, 16))};
  }
  /// 32 numbers that are not NaN.
  static void narrow_weights(V& low, V& high, uint16_t* to) {
    narrow_bf16(flushed(low), to);
    narrow_bf16(flushed(high), to + 16);
    const auto* both = reinterpret_cast<const __m256i*>(to);
    const __m256i first = _mm256_loadu_si256(both);
    const __m256i second = _mm256_loadu_si256(both + 1);
    low = {even(first), even(second)};
    high = {odd(first), odd(second)};
  }
  static void narrow_f16(V x, uint16_t* to) {
    store_halves(narrowed_f16(x.low), to);
    store_halves(narrowed_f16(x.high), to + 8);
  }
  static V select(uint16_t bits, V a, V b) {
    const auto one = [](int of, __m256 yes, __m256 no) {
      const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
      const __m256i mask =
          _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(of), bit), bit);
      return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(mask));
    };
    return {one(bits & 0xff, a.low, b.low), one(bits >> 8, a.high, b.high)};
  }
  static float largest(V x) {
    const __m256 m8 = _mm256_max_ps(x.low, x.high);
    const __m128 m4 =
        _mm_max_ps(_mm256_castps256_ps128(m8), _mm256_extractf128_ps(m8, 1));
    const __m128 m2 = _mm_max_ps(m4, _mm_movehl_ps(m4, m4));
    return _mm_cvtss_f32(_mm_max_ss(m2, _mm_movehdup_ps(m2)));
  }

 private:
  static __m256 even(__m256i pairs) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
  }
  static __m256 odd(__m256i pairs) {
    return _mm256_castsi256_ps(_mm256_and_si256(
        pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000))));
  }
};

} // namespace
} // namespace holdfast::cpu

#include "holdfast/kernels/cpu/attend-inl.h"

namespace holdfast::cpu {

const AttendKernels& attend_kernels_avx2() {
  static const AttendKernels kernels = make_attend_kernels<Avx2Isa>();
  return kernels;
}

} // namespace holdfast::cpu
