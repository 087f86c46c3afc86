// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/attend_expand_plain-inl.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

struct PlainIsa {
  using V = PlainF32;
  using Tiles = PlainTiles;

  static V load_f16(const uint16_t* from) {
    return V::each([&](int i) { return f16_to_f32(from[i]); });
  }
  static V load_bf16(const uint16_t* from) {
    return V::each([&](int i) { return bf16_to_f32(from[i]); });
  }
  static void expand(
      const CodedPlanes& codes,
      const std::byte* from,
      int64_t count,
      uint16_t* to,
      FetchList& fetch) {
    expand_tiles_plain(codes, from, count, to, fetch);
  }
  static V narrow_bf16(const V& x, uint16_t* to) {
    return V::each([&](int i) {
      to[i] = f32_to_bf16(x.lane[i]);
      return bf16_to_f32(to[i]);
    });
  }
  static void narrow_weights(V& low, V& high, uint16_t* to) {
    narrow_bf16(flushed(low), to);
    narrow_bf16(flushed(high), to + 16);
    low = V::each([&](int i) { return bf16_to_f32(to[2 * i]); });
    high = V::each([&](int i) { return bf16_to_f32(to[2 * i + 1]); });
  }
  static void narrow_f16(const V& x, uint16_t* to) {
    for (int i = 0; i < kLanes; ++i) {
      to[i] = f32_to_f16(x.lane[i]);
    }
  }
  static V select(uint16_t bits, const V& a, const V& b) {
    return V::each(
        [&](int i) { return (bits >> i & 1) != 0 ? a.lane[i] : b.lane[i]; });
  }
  static float largest(const V& x) {
    float y = x.lane[0];
    for (int i = 1; i < kLanes; ++i) {
      y = x.lane[i] > y ? x.lane[i] : y;
    }
    return y;
  }
};

} // namespace
} // namespace holdfast::cpu

#include "holdfast/kernels/cpu/attend-inl.h"

namespace holdfast::cpu {

const AttendKernels& attend_kernels_plain() {
  static const AttendKernels kernels = make_attend_kernels<PlainIsa>();
  return kernels;
}

} // namespace holdfast::cpu
