// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The passes of sample.h, written once over a lane type of math-inl.h. Include
// it in a kernel's .cpp file alone. Stateless; any thread.

#pragma once

#include <cstdint>

#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

inline constexpr float kMinusInfinity = -__builtin_inff();

/// Lanes past n hold minus infinity, as do NaNs.
template <class V>
inline V load_logits(const float* x, int64_t n) {
  const V lowest = V::set(kMinusInfinity);
  if (n >= kLanes) {
    return V::max(V::load(x), lowest);
  }
  float padded[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    padded[i] = i < n ? x[i] : kMinusInfinity;
  }
  return V::max(V::load(padded), lowest);
}

template <class V>
inline float maximum(const float* x, int64_t n) {
  V most = V::set(kMinusInfinity);
  for (int64_t i = 0; i < n; i += kLanes) {
    most = V::max(load_logits<V>(x + i, n - i), most);
  }
  float lanes[kLanes];
  most.store(lanes);
  float result = lanes[0];
  for (int i = 1; i < kLanes; ++i) {
    result = lanes[i] > result ? lanes[i] : result;
  }
  return result;
}

template <class V>
inline V weight_of(V x, V max, V scale) {
  // Rounding cannot make a difference of ordered numbers positive.
  return exp_nonpositive((x - max) * scale);
}

template <class V>
inline float exp_sum(const float* x, int64_t n, float max, float scale) {
  const V vmax = V::set(max);
  const V vscale = V::set(scale);
  V sum = V::set(0.0f);
  for (int64_t i = 0; i < n; i += kLanes) {
    sum = sum + weight_of(load_logits<V>(x + i, n - i), vmax, vscale);
  }
  return sum.sum();
}

template <class V>
inline void
weights(const float* x, int64_t n, float max, float scale, float* y) {
  const V vmax = V::set(max);
  const V vscale = V::set(scale);
  for (int64_t i = 0; i < n; i += kLanes) {
    const V w = weight_of(load_logits<V>(x + i, n - i), vmax, vscale);
    w.store_n(y + i, n - i < kLanes ? n - i : kLanes);
  }
}

} // namespace
} // namespace holdfast::cpu
