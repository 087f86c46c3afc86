// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Exact products in vectors of 256 bits: rows as int16, products by pairs.
// Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/linear_exact-inl.h"
#include "holdfast/kernels/cpu/math_vec256-inl.h"

namespace holdfast::cpu {
namespace {

struct Vec256Output {
  using V = Vec256F32;

  static void store_output(const V& value, float* to) {
    value.store(to);
  }
  static void end_output() {}
};

/// Sums of the products of neighbouring 16-bit lanes, in one or two registers
/// a part: whichever way Highway adds them up.
class PairSums {
 public:
  [[gnu::always_inline]] inline void
  add(const Vec256<int16_t>& a, const Vec256<int16_t>& b) {
    for (int i = 0; i < kParts; ++i) {
      first_.part[i] = hn::ReorderWidenMulAccumulate(
          Part<int32_t>(),
          a.part[i],
          b.part[i],
          first_.part[i],
          second_.part[i]);
    }
  }
  /// Lane i: of lanes 2i and 2i + 1.
  Vec256<int32_t> sum() const {
    return by_part(
        [](auto a, auto b) { return hn::RearrangeToOddPlusEven(a, b); },
        first_,
        second_);
  }

 private:
  Vec256<int32_t> first_ = all<int32_t>(0);
  Vec256<int32_t> second_ = all<int32_t>(0);
};

/// The whole numbers of one row against 8 columns. q: int16 [32]; codes: 32
/// bytes of each of 8 words, 64 apart.
inline Vec256<int32_t> exact_dot(const int8_t* q, const uint8_t* codes) {
  PairSums whole;
  for (int w = 0; w < 8; ++w) {
    int32_t pairs[2]; // k 4w, 4w + 1 and 4w + 2, 4w + 3
    std::memcpy(pairs, q + 8 * w, sizeof pairs);
    const auto word = load(reinterpret_cast<const uint16_t*>(codes + 64 * w));
    whole.add(
        cast<int16_t>(word & all<uint16_t>(0xff)),
        cast<int16_t>(all(pairs[0])));
    whole.add(
        cast<int16_t>(shift_right<8>(word)), cast<int16_t>(all(pairs[1])));
  }
  return whole.sum();
}

/// sum = fma(whole number, row's scale * weight's scale, sum), and the
/// offset's. at: of the step and row; scales: of these 8 columns.
template <bool kOffsets>
inline Vec256<float> exact_add(
    Vec256<float> sum,
    Vec256<int32_t> whole,
    const ExactRows& a,
    int64_t at,
    const uint8_t* scales) {
  const auto s = all(a.scales[at]);
  if constexpr (!kOffsets) {
    whole = whole - all(a.zeros[at]);
  }
  sum = fused(to_float(whole), s * from_f16(scales), sum);
  if constexpr (kOffsets) {
    sum = fused(to_float(all(a.sums[at])), s * from_f16(scales + 128), sum);
  }
  return sum;
}

template <bool kOffsets>
void exact_product_vec256(const ExactProductArgs& p) {
  alignas(64) float sums[kExactRows * kPanelColumns] = {};
  for (int64_t step = 0; step < p.steps; ++step) {
    const ExactUnit unit = exact_unit(p, step);
    for (int64_t r = 0; r < p.rows; ++r) {
      const int8_t* q = p.a.numbers + step * kExactStepBytes + r * 64;
      for (int c = 0; c < kPanelColumns; c += 8) {
        const uint8_t* codes = unit.codes + c / 16 * 512 + c % 16 * 4;
        float* sum = sums + r * kPanelColumns + c;
        store(
            exact_add<kOffsets>(
                load(sum),
                exact_dot(q, codes),
                p.a,
                step * kExactRows + r,
                unit.scales + 2 * c),
            sum);
      }
    }
  }
  exact_finish<Vec256Output>(p, sums);
}

} // namespace
} // namespace holdfast::cpu
