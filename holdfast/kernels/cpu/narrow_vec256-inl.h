// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// f32 to 16-bit numbers in vectors of 256 bits, as base/bits.h rounds: to
// nearest even; a NaN keeps its sign and what fits of its payload. Stateless;
// any thread.

#pragma once

#include "holdfast/kernels/cpu/math_vec256-inl.h"

namespace holdfast::cpu {
namespace {

/// A NaN's high bits, with `bit` where no bit under `mask` is left.
inline Vec256<uint32_t>
quiet_nan(const Vec256<uint32_t>& high, uint32_t mask, uint32_t bit) {
  return by_part(
      [](auto h, auto kept, auto added) {
        const auto nothing =
            hn::Eq(hn::And(h, kept), hn::Zero(Part<uint32_t>()));
        return hn::Or(h, hn::IfThenElseZero(nothing, added));
      },
      high,
      all(mask),
      all(bit));
}

/// x is NaN ? a : b.
inline Vec256<uint32_t> if_nan(
    const Vec256<float>& x,
    const Vec256<uint32_t>& a,
    const Vec256<uint32_t>& b) {
  return by_part(
      [](auto value, auto yes, auto no) {
        constexpr Part<uint32_t> d;
        return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), yes, no);
      },
      x,
      a,
      b);
}

/// The low halves of 8 32-bit lanes, whose high halves are zero.
inline void store_halves(const Vec256<uint32_t>& x, uint16_t* to) {
  constexpr hn::Rebind<uint16_t, Part<int32_t>> halves;
  for (int i = 0; i < kParts; ++i) {
    hn::StoreU(
        hn::DemoteTo(halves, hn::BitCast(Part<int32_t>(), x.part[i])),
        halves,
        to + i * kPartLanes<float>);
  }
}

/// 8 numbers rounded to fp16, as bits in 32-bit lanes; any NaN for a NaN.
inline Vec256<uint32_t> f16_bits(const Vec256<float>& x) {
  return by_part(
      [](auto value) {
        constexpr hn::Rebind<hwy::float16_t, Part<float>> halves;
        constexpr hn::Rebind<uint16_t, Part<float>> bits;
        return hn::PromoteTo(
            Part<uint32_t>(), hn::BitCast(bits, hn::DemoteTo(halves, value)));
      },
      x);
}

/// bf16 bits in the low halves of 32-bit lanes.
inline Vec256<uint32_t> narrowed_bf16(const Vec256<float>& x) {
  const auto bits = cast<uint32_t>(x);
  const auto top = shift_right<16>(bits);
  const auto odd = top & all<uint32_t>(1);
  const auto rounded = shift_right<16>(bits + all<uint32_t>(0x7fff) + odd);
  return if_nan(x, quiet_nan(top, 0x7f, 0x40), rounded);
}

/// The same for fp16.
inline Vec256<uint32_t> narrowed_f16(const Vec256<float>& x) {
  const auto bits = cast<uint32_t>(x);
  const auto sign = shift_right<16>(bits) & all<uint32_t>(0x8000);
  const auto payload = shift_right<13>(bits) & all<uint32_t>(0x3ff);
  const auto kept =
      sign | all<uint32_t>(0x7c00) | quiet_nan(payload, 0x3ff, 0x200);
  return if_nan(x, kept, f16_bits(x));
}

} // namespace
} // namespace holdfast::cpu
