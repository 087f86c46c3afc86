// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes to bf16 in vectors of 256 bits. The rounding to fp16 must be the only
// one: where scales and offsets are of like size, as nearly all are, their sums
// are exact in f32; elsewhere, as with AVX-512, a sum that is not is made odd.
// expand-inl.h defines the result. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/expand-inl.h"
#include "holdfast/kernels/cpu/narrow_vec256-inl.h"

namespace holdfast::cpu {
namespace {

/// a + b with the last bit set where the sum is not exact.
[[gnu::always_inline]] inline Vec256<float>
add_to_odd(const Vec256<float>& a, const Vec256<float>& b) {
  const auto sum = a + b;
  const auto b_part = sum - a;
  const auto a_part = sum - b_part;
  const auto error = (a - a_part) + (b - b_part);
  return by_part(
      [](auto s, auto e) {
        constexpr Part<float> f32;
        constexpr Part<int32_t> i32;
        // The error's sign against the sum's: the sum was rounded away from
        // zero. A mask of ones is -1.
        const auto away = hn::ShiftRight<31>(hn::BitCast(i32, hn::Xor(e, s)));
        const auto odd =
            hn::Or(hn::Add(hn::BitCast(i32, s), away), hn::Set(i32, 1));
        const auto exact = hn::Eq(e, hn::Zero(f32));
        return hn::IfThenElse(exact, s, hn::BitCast(f32, odd));
      },
      sum,
      error);
}

/// code * scale + offset of every code is exact in f32, for all 8 columns.
///
/// Let 2^s and 2^o be at most |scale| and |offset| and more than half of them.
/// Both are fp16 numbers, so the sum is a multiple of 2^(min(s, o) - 10), and
/// it is below 2^(max(s + bits, o) + 2): within 24 bits where max - min <= 12.
template <int kBits>
[[gnu::always_inline]] inline bool
sums_are_exact(const Vec256<float>& scale, const Vec256<float>& offset) {
  constexpr int kMantissa = 23; // exponents stand above it
  const auto exponent = all(0xff << kMantissa);
  const auto s = cast<int32_t>(scale) & exponent;
  const auto o = cast<int32_t>(offset) & exponent;
  bool exact = true;
  for (int i = 0; i < kParts; ++i) {
    constexpr Part<int32_t> d;
    const auto apart = hn::Sub(o.part[i], s.part[i]);
    const auto like = hn::And(
        hn::Gt(apart, hn::Set(d, (kBits - 13) * (1 << kMantissa))),
        hn::Lt(apart, hn::Set(d, 13 << kMantissa)));
    const auto zero =
        hn::Eq(hn::Min(o.part[i], s.part[i]), hn::Zero(d)); // one term at most
    exact &= hn::AllTrue(d, hn::Or(like, zero));
  }
  return exact;
}

/// How an offset is added.
enum class Sum { kNone, kExact, kToOdd };

/// Half a tile: 8 columns. A row is 16 lanes of 16 bits.
template <int kBits, bool kOffsets>
class ExpandHalf {
 public:
  ExpandHalf(const uint8_t* tile, int half) : half_(half) {
    for (int w = 0; w < kBits; ++w) {
      words_[w] =
          load(reinterpret_cast<const uint16_t*>(tile + 64 * w + 32 * half));
    }
  }

  template <int kRow>
  [[gnu::always_inline]] inline void
  rows(const TileScales& scales, uint16_t* out) const {
    const auto scale = from_f16(scales.scales[kRow / 8] + 16 * half_);
    if constexpr (kOffsets) {
      const auto offset = from_f16(scales.offsets[kRow / 8] + 16 * half_);
      if (!sums_are_exact<kBits>(scale, offset)) [[unlikely]] {
        eight<kRow, Sum::kToOdd>(scale, offset, out + 16 * half_);
      } else {
        eight<kRow, Sum::kExact>(scale, offset, out + 16 * half_);
      }
    } else {
      eight<kRow, Sum::kNone>(scale, all(0.0f), out + 16 * half_);
    }
  }

 private:
  using Codes = TileCodes<kBits>;

  /// Codes of row kRow; bits above the code are garbage.
  template <int kRow>
  [[gnu::always_inline]] inline Vec256<uint16_t> code_row() const {
    if constexpr (kRow < Codes::kDirectRows) {
      return shift_right<kRow % Codes::kPerWord * kBits>(
          words_[kRow / Codes::kPerWord]);
    } else {
      return with_spare<(kRow - Codes::kDirectRows) * kBits, 0>(
          all<uint16_t>(0));
    }
  }
  /// The bits of a code from kDone on, which stand from kFirst on in the spare
  /// bits of all words, added to those before.
  template <int kFirst, int kDone>
  [[gnu::always_inline]] inline Vec256<uint16_t>
  with_spare(const Vec256<uint16_t>& code) const {
    if constexpr (kDone == kBits) {
      return code;
    } else {
      constexpr int kSpare = Codes::kSpareBits;
      constexpr int kAt = (kFirst + kDone) % kSpare;
      constexpr int kTake =
          kSpare - kAt < kBits - kDone ? kSpare - kAt : kBits - kDone;
      const auto piece = shift_right<Codes::kDirectRows + kAt - kDone>(
          words_[(kFirst + kDone) / kSpare]);
      constexpr auto kMask = static_cast<uint16_t>(((1 << kTake) - 1) << kDone);
      return with_spare<kFirst, kDone + kTake>(code | (piece & all(kMask)));
    }
  }

  /// fp16 bits in the low halves of 32-bit lanes.
  template <Sum kSum>
  [[gnu::always_inline]] static inline Vec256<uint32_t> weigh(
      const Vec256<uint32_t>& code,
      const Vec256<float>& scale,
      const Vec256<float>& offset) {
    constexpr int32_t kZero = kSum == Sum::kNone ? 1 << (kBits - 1) : 0;
    const auto centred = to_float(cast<int32_t>(code) - all(kZero));
    if constexpr (kSum == Sum::kExact) {
      return f16_bits(fused(centred, scale, offset));
    }
    const auto value = centred * scale; // exact: 19 bits
    return f16_bits(kSum == Sum::kNone ? value : add_to_odd(value, offset));
  }

  template <int kRow, Sum kSum>
  [[gnu::always_inline]] inline void
  eight(const Vec256<float>& scale, const Vec256<float>& offset, uint16_t* out)
      const {
    const auto mask = all<uint32_t>((1u << kBits) - 1);
    const auto raw = cast<uint32_t>(code_row<kRow>());
    const auto even = weigh<kSum>(raw & mask, scale, offset);
    const auto odd = weigh<kSum>(shift_right<16>(raw) & mask, scale, offset);
    // The rounding multiplication gives (h + 4) >> 3, sign bits on top.
    const auto rounded = by_part(
        [](auto h) {
          return hn::MulFixedPoint15(h, hn::Set(Part<int16_t>(), 1 << 12));
        },
        cast<int16_t>(even | shift_left<16>(odd)));
    store(cast<uint16_t>(rounded) & all<uint16_t>(0x8fff), out + 32 * kRow);
    if constexpr (kRow % 8 != 7) {
      eight<kRow + 1, kSum>(scale, offset, out);
    }
  }

  int half_;
  Vec256<uint16_t> words_[kBits];
};

template <int kBits, bool kOffsets>
struct ExpandVec256 {
  static constexpr bool kFetches = false;
  static void
  run(const uint8_t* tile, const TileScales& scales, uint16_t* out) {
    for (int half = 0; half < 2; ++half) {
      const ExpandHalf<kBits, kOffsets> codes(tile, half);
      codes.template rows<0>(scales, out);
      codes.template rows<8>(scales, out);
    }
  }
};

} // namespace
} // namespace holdfast::cpu
