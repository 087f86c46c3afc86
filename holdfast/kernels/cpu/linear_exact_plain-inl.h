// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Exact products in standard C++. Stateless; any thread.

#pragma once

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/linear_exact-inl.h"

namespace holdfast::cpu {
namespace {

struct PlainOutput {
  using V = PlainF32;

  static void store_output(const V& value, float* to) {
    value.store(to);
  }
  static void end_output() {}
};

inline float exact_half(const uint8_t* from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return f16_to_f32(bits);
}

/// One row against one column of one step. codes: quads of k 0, 2, 1, 3, 64
/// bytes apart.
inline int32_t exact_dot(const int16_t* q, const uint8_t* codes) {
  int32_t whole = 0;
  for (int w = 0; w < 8; ++w, codes += 64, q += 4) {
    whole +=
        codes[0] * q[0] + codes[1] * q[2] + codes[2] * q[1] + codes[3] * q[3];
  }
  return whole;
}

template <bool kOffsets>
void exact_product_plain(const ExactProductArgs& p) {
  float sums[kExactRows * kPanelColumns] = {};
  for (int64_t step = 0; step < p.steps; ++step) {
    const ExactUnit unit = exact_unit(p, step);
    for (int64_t r = 0; r < p.rows; ++r) {
      int16_t q[kStepK];
      std::memcpy(q, p.a.numbers + step * kExactStepBytes + r * 64, sizeof q);
      const int64_t at = step * kExactRows + r;
      const float s = p.a.scales[at];
      for (int c = 0; c < kPanelColumns; ++c) {
        int32_t whole = exact_dot(q, unit.codes + c / 16 * 512 + c % 16 * 4);
        float* sum = sums + r * kPanelColumns + c;
        if constexpr (!kOffsets) {
          whole -= p.a.zeros[at];
        }
        *sum = __builtin_fmaf(
            static_cast<float>(whole),
            s * exact_half(unit.scales + 2 * c),
            *sum);
        if constexpr (kOffsets) {
          *sum = __builtin_fmaf(
              static_cast<float>(p.a.sums[at]),
              s * exact_half(unit.scales + 128 + 2 * c),
              *sum);
        }
      }
    }
  }
  exact_finish<PlainOutput>(p, sums);
}

} // namespace
} // namespace holdfast::cpu
