// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// rotate() and unrotate() of rotation.h with up to 256 elements in registers.
// Include it in vector_loops_avx512.cpp alone.

#pragma once

#include <cstdint>

#include "holdfast/codec/lanes_avx512-inl.h"
#include "holdfast/codec/rotation_layout.h"
#include "holdfast/codec/rotation_signs-inl.h"

namespace holdfast {
namespace {

/// One stage within a register: (a + b, a - b), the latter as b * -1 + a, which
/// rounds once. swapped: x with the elements of each pair changed places.
template <int apart>
inline __m512 stage_within(__m512 x, __m512 swapped) {
  constexpr auto sign = [](int i) { return (i & apart) != 0 ? -1.0f : 1.0f; };
  const __m512 signs = _mm512_setr_ps(
      sign(0),
      sign(1),
      sign(2),
      sign(3),
      sign(4),
      sign(5),
      sign(6),
      sign(7),
      sign(8),
      sign(9),
      sign(10),
      sign(11),
      sign(12),
      sign(13),
      sign(14),
      sign(15));
  return _mm512_fmadd_ps(x, signs, swapped);
}

/// Stages of pairs 1, 2, 4 and 8 apart.
inline __m512 stages_within(__m512 x) {
  x = stage_within<1>(x, _mm512_permute_ps(x, 0xb1));
  x = stage_within<2>(x, _mm512_permute_ps(x, 0x4e));
  x = stage_within<4>(x, _mm512_shuffle_f32x4(x, x, 0xb1));
  return stage_within<8>(x, _mm512_shuffle_f32x4(x, x, 0x4e));
}

/// What is done before and after the stages: signs flipped where they are
/// given, then products with the scale where it is not one.
struct AroundStages {
  const uint32_t* before = nullptr;
  const uint32_t* after = nullptr;
  float scale = 1.0f;
};

inline __m512 flipped(__m512 x, const uint32_t* signs) {
  return _mm512_castsi512_ps(
      _mm512_xor_si512(_mm512_castps_si512(x), load_words(signs)));
}

/// Stages of pairs of registers `apart` and more apart.
template <int n, int apart>
inline void stages_across(__m512 (&x)[n]) {
  if constexpr (apart < n) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      if ((i & apart) == 0) {
        const __m512 sum = _mm512_add_ps(x[i], x[i + apart]);
        x[i + apart] = _mm512_sub_ps(x[i], x[i + apart]);
        x[i] = sum;
      }
    }
    stages_across<n, 2 * apart>(x);
  }
}

/// All stages of 16 * n elements.
template <int n>
inline void transform_in_registers(float* vector, const AroundStages& around) {
  __m512 x[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
    x[i] = _mm512_loadu_ps(vector + 16 * i);
    if (around.before != nullptr) {
      x[i] = flipped(x[i], around.before + 16 * i);
    }
    x[i] = stages_within(x[i]);
  }
  stages_across<n, 1>(x);
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) {
    if (around.scale != 1.0f) {
      x[i] = _mm512_mul_ps(x[i], _mm512_set1_ps(around.scale));
    }
    if (around.after != nullptr) {
      x[i] = flipped(x[i], around.after + 16 * i);
    }
    _mm512_storeu_ps(vector + 16 * i, x[i]);
  }
}

/// Two halves of 256, then the last stage.
inline void transform_512(float* vector, const AroundStages& around) {
  for (int64_t half = 0; half < 512; half += 256) {
    transform_in_registers<16>(
        vector + half,
        {.before = around.before == nullptr ? nullptr : around.before + half});
  }
  const __m512 scale = _mm512_set1_ps(around.scale);
  for (int64_t i = 0; i < 256; i += 16) {
    const __m512 a = _mm512_loadu_ps(vector + i);
    const __m512 b = _mm512_loadu_ps(vector + 256 + i);
    __m512 sum = _mm512_mul_ps(_mm512_add_ps(a, b), scale);
    __m512 difference = _mm512_mul_ps(_mm512_sub_ps(a, b), scale);
    if (around.after != nullptr) {
      sum = flipped(sum, around.after + i);
      difference = flipped(difference, around.after + 256 + i);
    }
    _mm512_storeu_ps(vector + i, sum);
    _mm512_storeu_ps(vector + 256 + i, difference);
  }
}

inline void transform(float* x, int64_t width, const AroundStages& around) {
  width == 32        ? transform_in_registers<2>(x, around)
      : width == 64  ? transform_in_registers<4>(x, around)
      : width == 128 ? transform_in_registers<8>(x, around)
      : width == 256 ? transform_in_registers<16>(x, around)
                     : transform_512(x, around);
}

inline void rotate_loop(float* vector, int64_t dim) {
  const int64_t width = rotation_width(dim);
  for (int pass = 0; pass < rotation_passes(dim); ++pass) {
    transform(
        vector + rotation_offset(dim, pass),
        width,
        {.before = kSignMasks[pass].bits, .scale = rotation_scale(width)});
  }
}

inline void unrotate_loop(float* vector, int64_t dim) {
  const int64_t width = rotation_width(dim);
  for (int pass = rotation_passes(dim) - 1; pass >= 0; --pass) {
    transform(
        vector + rotation_offset(dim, pass),
        width,
        {.after = kSignMasks[pass].bits, .scale = rotation_scale(width)});
  }
}

} // namespace
} // namespace holdfast
