// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_expand_vec256-inl.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/narrow_vec256-inl.h"
#include "holdfast/kernels/cpu/tile_vec256-inl.h"

namespace holdfast::cpu {
namespace {

struct NeonIsa {
  using V = Vec256F32;
  using Tiles = Vec256Tiles;

  static V load_f16(const uint16_t* from) {
    return {from_f16(from), from_f16(from + 8)};
  }
  static V load_bf16(const uint16_t* from) {
    return {from_bf16(from), from_bf16(from + 8)};
  }
  static void expand(
      const CodedPlanes& codes,
      const std::byte* from,
      int64_t count,
      uint16_t* to,
      FetchList& fetch) {
    expand_tiles<ExpandVec256Tile>(codes, from, count, to, fetch);
  }
  static V narrow_bf16(const V& x, uint16_t* to) {
    const auto low = narrowed_bf16(x.low);
    const auto high = narrowed_bf16(x.high);
    store_halves(low, to);
    store_halves(high, to + 8);
    return {
        cast<float>(shift_left<16>(low)), cast<float>(shift_left<16>(high))};
  }
  /// 32 numbers that are not NaN.
  static void narrow_weights(V& low, V& high, uint16_t* to) {
    narrow_bf16(flushed(low), to);
    narrow_bf16(flushed(high), to + 16);
    const auto first = cast<uint32_t>(load(to));
    const auto second = cast<uint32_t>(load(to + 16));
    low = {even_bf16(first), even_bf16(second)};
    high = {odd_bf16(first), odd_bf16(second)};
  }
  static void narrow_f16(const V& x, uint16_t* to) {
    store_halves(narrowed_f16(x.low), to);
    store_halves(narrowed_f16(x.high), to + 8);
  }
  static V select(uint16_t bits, const V& a, const V& b) {
    return {
        select8(bits & 0xffu, a.low, b.low),
        select8(uint32_t{bits} >> 8, a.high, b.high)};
  }
  static float largest(const V& x) {
    return folded(by_part(Larger(), x.low, x.high), Larger());
  }

 private:
  static Vec256<float>
  select8(uint32_t bits, const Vec256<float>& a, const Vec256<float>& b) {
    static constexpr uint32_t kBits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return by_part(
        [](auto of, auto bit, auto yes, auto no) {
          const auto set = hn::Eq(hn::And(of, bit), bit);
          return hn::IfThenElse(hn::RebindMask(Part<float>(), set), yes, no);
        },
        all(bits),
        load(kBits),
        a,
        b);
  }
};

} // namespace
} // namespace holdfast::cpu

#include "holdfast/kernels/cpu/attend-inl.h"

namespace holdfast::cpu {

const AttendKernels& attend_kernels_neon() {
  static const AttendKernels kernels = make_attend_kernels<NeonIsa>();
  return kernels;
}

} // namespace holdfast::cpu
