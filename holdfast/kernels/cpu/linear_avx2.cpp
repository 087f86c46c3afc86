// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expand_avx2-inl.h"
#include "holdfast/kernels/cpu/linear_exact_avx2-inl.h"
#include "holdfast/kernels/cpu/linear_products-inl.h"
#include "holdfast/kernels/cpu/narrow_avx2-inl.h"
#include "holdfast/kernels/cpu/tile_avx2-inl.h"

namespace holdfast::cpu {

namespace {

struct Avx2 {
  using V = Avx2F32;
  using Tiles = Avx2Tiles;
  template <int kBits, bool kOffsets>
  using Expand = ExpandAvx2<kBits, kOffsets>;

  static void store_bf16(V value, uint16_t* out) {
    store_halves(narrowed_bf16(value.low), out);
    store_halves(narrowed_bf16(value.high), out + 8);
  }
  /// To L2. Inlined early: g++ 12 drops calls of a function that only
  /// prefetches.
  template <int kLines>
  [[gnu::always_inline]] static inline void prefetch(const uint8_t* at) {
#pragma GCC unroll 64
    for (int i = 0; i < kLines; ++i) {
      _mm_prefetch(reinterpret_cast<const char*>(at + 64 * i), _MM_HINT_T1);
    }
  }
  static void store_numbers(const int32_t* q, int64_t row, int8_t* numbers) {
    store_int16(q, row, numbers);
  }
  static const ExactKernels kExact;
};

constexpr ExactKernels Avx2::kExact{
    .prepare = exact_prepare<Avx2>,
    .product = {exact_product_avx2<false>, exact_product_avx2<true>}};
constexpr LinearKernels kKernels = make_kernels<Avx2>();

} // namespace

const LinearKernels& linear_kernels_avx2() {
  return kKernels;
}

} // namespace holdfast::cpu
