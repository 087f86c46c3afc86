// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent-inl.h"

namespace holdfast::cpu {

const LatentKernels& latent_kernels_avx512() {
  static constexpr LatentKernels table = make_latent<Avx512F32>();
  return table;
}

} // namespace holdfast::cpu
