// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expand_vec256-inl.h"
#include "holdfast/kernels/cpu/linear_exact_vec256-inl.h"
#include "holdfast/kernels/cpu/linear_products-inl.h"
#include "holdfast/kernels/cpu/narrow_vec256-inl.h"
#if defined(__x86_64__)
#include "holdfast/kernels/cpu/tile_avx2-inl.h"
#else
#include "holdfast/kernels/cpu/tile_vec256-inl.h"
#endif

namespace holdfast::cpu {

namespace {

#if defined(__x86_64__)
using BestTiles = Avx2Tiles;
#else
using BestTiles = Vec256Tiles;
#endif

struct Vec256Arch {
  using V = Vec256F32;
  using Tiles = BestTiles;
  template <int kBits, bool kOffsets>
  using Expand = ExpandVec256<kBits, kOffsets>;

  static void store_bf16(const V& value, uint16_t* out) {
    store_halves(narrowed_bf16(value.low), out);
    store_halves(narrowed_bf16(value.high), out + 8);
  }
  /// To L2. Inlined early: g++ 12 drops calls of a function that only
  /// prefetches.
  template <int kLines>
  [[gnu::always_inline]] static inline void prefetch(const uint8_t* at) {
#pragma GCC unroll 64
    for (int i = 0; i < kLines; ++i) {
      __builtin_prefetch(at + 64 * i, 0, 2);
    }
  }
  static void store_numbers(const int32_t* q, int64_t row, int8_t* numbers) {
    store_int16(q, row, numbers);
  }
  static const ExactKernels kExact;
};

constexpr ExactKernels Vec256Arch::kExact{
    .prepare = exact_prepare<Vec256Arch>,
    .product = {exact_product_vec256<false>, exact_product_vec256<true>}};
constexpr LinearKernels kKernels = make_kernels<Vec256Arch>();

} // namespace

const LinearKernels& linear_kernels_vec256() {
  return kKernels;
}

} // namespace holdfast::cpu
