// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sixteen elements at once, in as many registers as the instruction set needs,
// by the vector extensions that GCC and clang share. Include it in
// vector_loops_plain.cpp alone.

#pragma once

#include <cstdint>

namespace holdfast {
namespace {

inline constexpr int64_t kLanes = 16;
using FloatLanes = float __attribute__((vector_size(64)));
using WordLanes = uint32_t __attribute__((vector_size(64)));

/// As many as a register of the smallest instruction set has.
inline constexpr int64_t kFew = 4;
using FewFloats = float __attribute__((vector_size(16)));
using FewInts = int32_t __attribute__((vector_size(16)));

template <class Vector>
inline void load(const float* from, Vector& x) {
  __builtin_memcpy(&x, from, sizeof(x));
}
inline void store(const FloatLanes& x, float* to) {
  __builtin_memcpy(to, &x, sizeof(x));
}

/// Folds lanes 8, 4, 2 and 1 apart; the result is in lane 0.
template <class Fold>
inline float fold_lanes(const FloatLanes& lanes, const Fold& fold) {
  FloatLanes x = lanes;
  fold(
      x,
      __builtin_shufflevector(
          x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15));
  fold(
      x,
      __builtin_shufflevector(
          x, x, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7));
  fold(
      x,
      __builtin_shufflevector(
          x, x, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3));
  fold(
      x,
      __builtin_shufflevector(
          x, x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  return x[0];
}

} // namespace
} // namespace holdfast
