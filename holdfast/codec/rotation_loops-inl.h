// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// rotate() and unrotate() of rotation.h. Include it in vector_loops_*.cpp
// alone.

#pragma once

#include <bit>
#include <cstdint>

#include "holdfast/codec/rotation_layout.h"

namespace holdfast {
namespace {

/// The sign bits of a pass as masks.
struct SignMasks {
  uint32_t bits[kRotationMaxDim];
};

constexpr SignMasks sign_masks(int pass) {
  SignMasks masks{};
  for (int64_t i = 0; i < kRotationMaxDim; ++i) {
    masks.bits[i] = rotation_negates(pass, i) ? 0x80000000u : 0u;
  }
  return masks;
}
constexpr SignMasks kSignMasks[] = {sign_masks(0), sign_masks(1)};

inline void flip_signs(float* x, int64_t width, int pass) {
  const uint32_t* masks = kSignMasks[pass].bits;
  for (int64_t i = 0; i < width; ++i) {
    x[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(x[i]) ^ masks[i]);
  }
}

/// Stages of pairs 1, 2, 4 and 8 apart on 16 elements: (a + b, a - b).
inline void stages_within_16(float* x) {
  for (int64_t apart = 1; apart < 16; apart *= 2) {
    float out[16];
    for (int64_t i = 0; i < 16; ++i) {
      const float other = x[i ^ apart];
      out[i] = (i & apart) == 0 ? x[i] + other : other - x[i];
    }
    for (int64_t i = 0; i < 16; ++i) {
      x[i] = out[i];
    }
  }
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
