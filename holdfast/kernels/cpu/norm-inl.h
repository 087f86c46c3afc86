// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// RMS norm of one row, the same bits for both lane types: the sum of squares
// runs over 16 strided lanes in order (element i in lane i mod 16, fused
// multiply-adds) that are folded 8, 4, 2, 1 apart. Any width; include rules as
// for math-inl.h. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

template <class V>
inline float sum_of_squares(const float* x, int64_t width) {
  V sum = V::set(0.0f);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const V v = V::load(x + i);
    sum = V::fma(v, v, sum);
  }
  if (i < width) {
    const V v = V::load_n(x + i, width - i);
    sum = V::fma(v, v, sum);
  }
  return sum.sum();
}

/// 1 / sqrt(mean(x^2) + eps).
template <class V>
inline float rms_scale(const float* x, int64_t width, float eps) {
  const float mean = sum_of_squares<V>(x, width) / static_cast<float>(width);
  return 1.0f / __builtin_sqrtf(mean + eps);
}

/// y = x * scale * weight, multiplied in this order. x and y may be the same.
template <class V>
inline void scale_row(
    const float* x,
    float scale,
    const float* weight,
    int64_t width,
    float* y) {
  const V s = V::set(scale);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    (V::load(x + i) * s * V::load(weight + i)).store(y + i);
  }
  if (i < width) {
    const int64_t n = width - i;
    (V::load_n(x + i, n) * s * V::load_n(weight + i, n)).store_n(y + i, n);
  }
}

/// y = x * weight / sqrt(mean(x^2) + eps). x and y may be the same.
template <class V>
inline void rms_norm_row(
    const float* x,
    const float* weight,
    float eps,
    int64_t width,
    float* y) {
  scale_row<V>(x, rms_scale<V>(x, width, eps), weight, width, y);
}

} // namespace
} // namespace holdfast::cpu
