// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes to bf16 in vectors of 256 bits: as with AVX-512, sums in f32 are made
// odd where they are not exact, so that the rounding to fp16 is the only one.
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
    const auto offset =
        kOffsets ? from_f16(scales.offsets[kRow / 8] + 16 * half_) : all(0.0f);
    eight<kRow>(scale, offset, out + 16 * half_);
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
  [[gnu::always_inline]] static inline Vec256<uint32_t> weigh(
      const Vec256<uint32_t>& code,
      const Vec256<float>& scale,
      const Vec256<float>& offset) {
    constexpr int32_t kZero = kOffsets ? 0 : 1 << (kBits - 1);
    const auto centred = to_float(cast<int32_t>(code) - all(kZero));
    const auto value = centred * scale; // exact: 19 bits
    if constexpr (kOffsets) {
      return f16_bits(add_to_odd(value, offset));
    } else {
      return f16_bits(value);
    }
  }

  template <int kRow>
  [[gnu::always_inline]] inline void
  eight(const Vec256<float>& scale, const Vec256<float>& offset, uint16_t* out)
      const {
    const auto mask = all<uint32_t>((1u << kBits) - 1);
    const auto raw = cast<uint32_t>(code_row<kRow>());
    const auto even = weigh(raw & mask, scale, offset);
    const auto odd = weigh(shift_right<16>(raw) & mask, scale, offset);
    // The rounding multiplication gives (h + 4) >> 3, sign bits on top.
    const auto rounded = by_part(
        [](auto h) {
          return hn::MulFixedPoint15(h, hn::Set(Part<int16_t>(), 1 << 12));
        },
        cast<int16_t>(even | shift_left<16>(odd)));
    store(cast<uint16_t>(rounded) & all<uint16_t>(0x8fff), out + 32 * kRow);
    if constexpr (kRow % 8 != 7) {
      eight<kRow + 1>(scale, offset, out);
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
