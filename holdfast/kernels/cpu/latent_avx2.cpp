// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent-inl.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"

namespace holdfast::cpu {

const LatentKernels& latent_kernels_avx2() {
  static constexpr LatentKernels table = make_latent<Avx2F32>();
  return table;
}

} // namespace holdfast::cpu
