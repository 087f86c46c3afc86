// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent-inl.h"
#include "holdfast/kernels/cpu/math_vec256-inl.h"

namespace holdfast::cpu {

const LatentKernels& latent_kernels_vec256() {
  static constexpr LatentKernels table = make_latent<Vec256F32>();
  return table;
}

} // namespace holdfast::cpu
