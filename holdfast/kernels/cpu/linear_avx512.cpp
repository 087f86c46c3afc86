// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expand_avx512-inl.h"
#include "holdfast/kernels/cpu/linear_exact_avx512-inl.h"
#include "holdfast/kernels/cpu/linear_products-inl.h"
#include "holdfast/kernels/cpu/linear_vector-inl.h"

namespace holdfast::cpu {

namespace {

struct Avx512 : VectorArch {
  using Tiles = Avx512Tiles;
  template <int kBits, bool kOffsets>
  using Expand = ExpandAvx512<kBits, kOffsets>;

  static void store_numbers(const int32_t* q, int64_t row, int8_t* numbers) {
    store_int16(q, row, numbers);
  }
  static const ExactKernels kExact;
};

constexpr ExactKernels Avx512::kExact{
    .prepare = exact_prepare<Avx512>,
    .product = {exact_product_avx512<false>, exact_product_avx512<true>}};
constexpr LinearKernels kKernels = make_kernels<Avx512>();

} // namespace

const LinearKernels& linear_kernels_avx512() {
  return kKernels;
}

} // namespace holdfast::cpu
