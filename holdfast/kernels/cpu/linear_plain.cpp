// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expand_plain-inl.h"
#include "holdfast/kernels/cpu/linear_exact_plain-inl.h"
#include "holdfast/kernels/cpu/linear_products-inl.h"

namespace holdfast::cpu {

namespace {

struct Plain {
  using V = PlainF32;
  using Tiles = PlainTiles;

  template <int kBits, bool kOffsets>
  struct Expand {
    static constexpr bool kFetches = false;
    static void
    run(const uint8_t* tile, const TileScales& scales, uint16_t* out) {
      expand_plain<kBits, kOffsets>(tile, scales, out);
    }
  };
  static void store_bf16(const V& value, uint16_t* out) {
    for (int i = 0; i < kLanes; ++i) {
      out[i] = f32_to_bf16(value.lane[i]);
    }
  }
  template <int kLines>
  static void prefetch(const uint8_t*) {}

  static void store_numbers(const int32_t* q, int64_t row, int8_t* numbers) {
    store_int16(q, row, numbers);
  }
  static const ExactKernels kExact;
};

constexpr ExactKernels Plain::kExact{
    .prepare = exact_prepare<Plain>,
    .product = {exact_product_plain<false>, exact_product_plain<true>}};
constexpr LinearKernels kKernels = make_kernels<Plain>();

} // namespace

const LinearKernels& linear_kernels_plain() {
  return kKernels;
}

} // namespace holdfast::cpu
