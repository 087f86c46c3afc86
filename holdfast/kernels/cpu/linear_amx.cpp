// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/expand_amx-inl.h"
#include "holdfast/kernels/cpu/linear_products-inl.h"
#include "holdfast/kernels/cpu/linear_vector-inl.h"

namespace holdfast::cpu {

namespace {

struct Amx : VectorArch {
  using Tiles = AmxTiles;
  template <int kBits, bool kOffsets>
  using Expand = ExpandAmx<kBits, kOffsets>;
};

constexpr LinearKernels kKernels = make_kernels<Amx>();

} // namespace

const LinearKernels& linear_kernels_amx() {
  return kKernels;
}

} // namespace holdfast::cpu
