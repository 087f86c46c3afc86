// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Products with codes: exact sums of integers. What a code stands for is an
// int8; queries and weights are integers of 15 bits times one step a row,
// written as two int8 digits in rows of their own, 2 r (high) and 2 r + 1
// (low). A tile product [16 x 64] * [16 quads][16][4] adds up in int32, and
//   row = step * (128 * high + low).
// Integers have no order of addition: rows, chunks and paths agree by nature.
// Include it in a kernel's .cpp file alone, after its Isa.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_fetch-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/math-inl.h"

namespace holdfast::cpu {
namespace {

/// 127 * 128: the largest integer of two digits whose high one is at most 127.
constexpr float kDigitRange = 16256.0f;
constexpr int64_t kIntTile = 1024; // bytes
constexpr int64_t kDigitRow = 64; // bytes

/// What turns numbers of up to `largest` into integers, and back. A row whose
/// numbers are not all finite becomes zeros times NaN.
struct DigitScale {
  float factor;
  float step;
};
inline DigitScale digit_scale(float largest, float sum) {
  constexpr float kInfinity = __builtin_inff();
  if (!(__builtin_fabsf(sum) < kInfinity) || !(largest < kInfinity)) {
    return {0.0f, __builtin_nanf("")};
  }
  if (!(largest >= 0x1p-100f)) {
    return {0.0f, 0.0f};
  }
  return {kDigitRange / largest, largest * (1.0f / kDigitRange)};
}

/// 16 scales (or biases) of a group from an index on.
template <class Isa>
inline typename Isa::V
load_scales(const CodedPlanes& codes, const std::byte* plane, int64_t index) {
  return codes.biases != 0
      ? Isa::load_bf16(reinterpret_cast<const uint16_t*>(plane) + index)
      : Isa::V::load(reinterpret_cast<const float*>(plane) + index);
}

/// kA tiles of 8 rows by kColumns tiles, over `steps` tiles each: a, [rows][..]
/// with a row of a tile every `a_stride` bytes, steps `a_step` bytes apart; b,
/// steps `b_step` bytes apart; products [16 kA][64] int32.
struct DigitProduct {
  const int8_t* a;
  int64_t a_stride;
  int64_t a_step;
  const int8_t* b;
  int64_t b_step;
  int64_t steps;
  int32_t* products;
};

/// `ahead(s)` comes before step s: it makes the tiles of the step after.
template <int kA, int kColumns, class Tiles, class Ahead>
inline void multiply(Tiles& tiles, const DigitProduct& of, Ahead ahead) {
  const auto each = []<class F, int... kI>(
                        std::integer_sequence<int, kI...>, F f) {
    (f.template operator()<kI>(), ...);
  };
  using Sums = std::make_integer_sequence<int, kA * kColumns>;
  using Columns = std::make_integer_sequence<int, kColumns>;
  each(Sums(), [&]<int kC>() { tiles.template zero<kC>(); });
  for (int64_t s = 0; s < of.steps; ++s) {
    ahead(s);
    const int8_t* a = of.a + s * of.a_step;
    const int8_t* b = of.b + s * of.b_step;
    tiles.template load_a<0>(a, of.a_stride);
    if constexpr (kA == 2) {
      tiles.template load_a<1>(a + 16 * of.a_stride, of.a_stride);
    }
    each(Columns(), [&]<int kN>() {
      tiles.template load_b<kN % 2>(b + kN * kIntTile);
      tiles.template dot_int8<kN, 0, kN % 2>();
      if constexpr (kA == 2) {
        tiles.template dot_int8<kColumns + kN, 1, kN % 2>();
      }
    });
  }
  each(Sums(), [&]<int kC>() {
    tiles.template store_c<kC>(
        of.products + kC / kColumns * 16 * 64 + kC % kColumns * 16, 256);
  });
}

} // namespace
} // namespace holdfast::cpu
