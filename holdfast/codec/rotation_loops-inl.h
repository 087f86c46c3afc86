// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// rotate() and unrotate() of rotation.h. Include it in
// vector_loops_plain.cpp alone.

#pragma once

#include <bit>
#include <cstdint>

#include "holdfast/codec/lanes-inl.h"
#include "holdfast/codec/rotation_layout.h"
#include "holdfast/codec/rotation_signs-inl.h"

namespace holdfast {
namespace {

inline void flip_signs(float* x, int64_t width, int pass) {
  const uint32_t* masks = kSignMasks[pass].bits;
  for (int64_t i = 0; i < width; ++i) {
    x[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(x[i]) ^ masks[i]);
  }
}

/// One stage within 16 elements: (a + b, a - b), the latter as b' = a + (-b).
/// swapped: the same elements with those of each pair changed places.
template <int apart>
inline void stage_within_16(FloatLanes& x, const FloatLanes& swapped) {
  constexpr uint32_t m = 0x80000000u;
  constexpr auto flip = [](int i) { return (i & apart) != 0 ? m : 0u; };
  constexpr WordLanes signs{
      flip(0),
      flip(1),
      flip(2),
      flip(3),
      flip(4),
      flip(5),
      flip(6),
      flip(7),
      flip(8),
      flip(9),
      flip(10),
      flip(11),
      flip(12),
      flip(13),
      flip(14),
      flip(15)};
  x = swapped + (FloatLanes)((WordLanes)x ^ signs);
}

/// Stages of pairs 1, 2, 4 and 8 apart.
inline void stages_within_16(float* elements) {
  FloatLanes x;
  load(elements, x);
  stage_within_16<1>(
      x,
      __builtin_shufflevector(
          x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  stage_within_16<2>(
      x,
      __builtin_shufflevector(
          x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  stage_within_16<4>(
      x,
      __builtin_shufflevector(
          x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  stage_within_16<8>(
      x,
      __builtin_shufflevector(
          x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  store(x, elements);
}

/// Stages of pairs 1, 2, 4, ... apart; then one product.
inline void transform(float* x, int64_t width) {
  for (int64_t first = 0; first < width; first += 16) {
    stages_within_16(x + first);
  }
  for (int64_t apart = 16; apart < width; apart *= 2) {
    for (int64_t first = 0; first < width; first += 2 * apart) {
      float* const a = x + first;
      float* const b = a + apart;
      for (int64_t i = 0; i < apart; ++i) {
        const float sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
      }
    }
  }
  const float scale = rotation_scale(width);
  for (int64_t i = 0; i < width; ++i) {
    x[i] *= scale;
  }
}

inline void rotate_loop(float* vector, int64_t dim) {
  const int64_t width = rotation_width(dim);
  for (int pass = 0; pass < rotation_passes(dim); ++pass) {
    float* x = vector + rotation_offset(dim, pass);
    flip_signs(x, width, pass);
    transform(x, width);
  }
}

inline void unrotate_loop(float* vector, int64_t dim) {
  const int64_t width = rotation_width(dim);
  for (int pass = rotation_passes(dim) - 1; pass >= 0; --pass) {
    float* x = vector + rotation_offset(dim, pass);
    transform(x, width);
    flip_signs(x, width, pass);
  }
}

} // namespace
} // namespace holdfast
