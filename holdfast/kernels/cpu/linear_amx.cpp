// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expand_amx-inl.h"
#include "holdfast/kernels/cpu/linear_exact_amx-inl.h"
#include "holdfast/kernels/cpu/linear_products-inl.h"
#include "holdfast/kernels/cpu/linear_vector-inl.h"

namespace holdfast::cpu {

namespace {

struct Amx : VectorArch {
  using Tiles = AmxTiles;
  template <int kBits, bool kOffsets>
  using Expand = ExpandAmx<kBits, kOffsets>;

  /// The instruction takes subnormals for zero; scaled activations are none.
  static void store_bf16(V value, uint16_t* out) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(out),
        reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value.v)));
  }
  static void store_numbers(const int32_t* q, int64_t row, int8_t* numbers) {
    store_digits(q, row, numbers);
  }
  static const ExactKernels kExact;
};

constexpr ExactKernels Amx::kExact{
    .prepare = exact_prepare<Amx>,
    .product = {exact_product_amx<false>, exact_product_amx<true>}};
constexpr LinearKernels kKernels = make_kernels<Amx>();

} // namespace

const LinearKernels& linear_kernels_amx() {
  return kKernels;
}

} // namespace holdfast::cpu
