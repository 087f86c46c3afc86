// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of exact products that all paths share: rows to whole numbers, and
// sums to outputs. Arch: V (lanes), store_numbers. Stateless; any thread.

#pragma once

#include <cstring>

#include "holdfast/kernels/cpu/linear_exact_kernels.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/norm-inl.h"

namespace holdfast::cpu {
namespace {

struct ExactStep {
  float scale;
  int32_t sum;
};

/// q [32] and what belongs to it. Loops of plain arithmetic, each operation
/// exact or rounded once: the compiler may use any lanes.
inline ExactStep exact_step(const float* x, int32_t* q) {
  uint32_t most = 0; // of |x|, as bits: ordered like the values, NaN on top
  for (int i = 0; i < kStepK; ++i) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x[i]) & 0x7fffffffu;
    most = bits > most ? bits : most;
  }
  int exponent = static_cast<int>(most >> 23) - 127;
  if (exponent == 128) {
    std::memset(q, 0, kStepK * sizeof(int32_t));
    return {__builtin_nanf(""), 0};
  }
  exponent = exponent < -100 ? -100 : exponent;
  const auto power = [](int e) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(e + 127) << 23);
  };
  const float inverse = power(13 - exponent);
  constexpr float kRound = 0x1.8p23f; // x + kRound rounds to a whole number
  int32_t sum = 0;
  for (int i = 0; i < kStepK; ++i) {
    const float rounded = x[i] * inverse + kRound;
    q[i] = __builtin_bit_cast(int32_t, rounded) -
        __builtin_bit_cast(int32_t, kRound);
    sum += q[i];
  }
  return {power(exponent - 13), sum};
}

template <class Arch>
void exact_prepare(const ExactPrepareArgs& p) {
  using V = typename Arch::V;
  const int64_t k = p.steps * kStepK;
  std::memset(p.out.numbers, 0, static_cast<size_t>(p.steps * kExactStepBytes));
  std::memset(
      p.out.scales,
      0,
      static_cast<size_t>(p.steps * kExactRows) * sizeof(float));
  std::memset(
      p.out.sums,
      0,
      static_cast<size_t>(p.steps * kExactRows) * sizeof(int32_t));
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* row = p.x + r * k;
    if (p.norm != nullptr) {
      rms_norm_row<V>(row, p.norm, p.eps, k, p.row);
      row = p.row;
    }
    for (int64_t s = 0; s < p.steps; ++s) {
      int32_t q[kStepK];
      const ExactStep step = exact_step(row + s * kStepK, q);
      p.out.scales[s * kExactRows + r] = step.scale;
      p.out.sums[s * kExactRows + r] = step.sum;
      p.out.zeros[s * kExactRows + r] = kExactZero * step.sum;
      Arch::store_numbers(q, r, p.out.numbers + s * kExactStepBytes);
    }
  }
}

/// q of a row in its order: rows of 32 int16.
inline void store_int16(const int32_t* q, int64_t row, int8_t* numbers) {
  int16_t values[kStepK];
  for (int i = 0; i < kStepK; ++i) {
    values[i] = static_cast<int16_t>(q[i]);
  }
  std::memcpy(numbers + row * 64, values, sizeof values);
}

/// Where the parts of one step of a panel lie.
struct ExactUnit {
  const uint8_t* codes; // [4 tiles][8 words][16 columns][k 0, 2, 1, 3]
  const uint8_t* scales; // fp16 [64], and behind them as many offsets
};

inline ExactUnit exact_unit(const ExactProductArgs& p, int64_t step) {
  constexpr int64_t kTiles = kPanelTiles * 64 * 8;
  const uint8_t* unit = p.weight + p.layout.header_bytes +
      step / p.layout.unit_steps * p.layout.unit_bytes;
  return {
      unit + step % p.layout.unit_steps * kTiles,
      unit + p.layout.unit_steps * kTiles};
}

/// A panel's sums [rows][64] to its columns of y.
template <class Arch>
inline void exact_finish(const ExactProductArgs& p, const float* sums) {
  using V = typename Arch::V;
  const V factor = V::set(p.factor);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t c = 0; c < p.columns; c += 16) {
      const int64_t n = p.columns - c < 16 ? p.columns - c : 16;
      V y = V::load(sums + r * kPanelColumns + c) * factor;
      const int64_t at = r * p.stride + c;
      if (p.residual != nullptr) {
        y = V::load_n(p.residual + at, n) + y;
      }
      n == 16 ? Arch::store_output(y, p.y + at) : y.store_n(p.y + at, n);
    }
  }
  Arch::end_output();
}

} // namespace
} // namespace holdfast::cpu
