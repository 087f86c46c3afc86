// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/latent-inl.h"

namespace holdfast::cpu {

const LatentKernels& latent_kernels_plain() {
  static constexpr LatentKernels table = make_latent<PlainF32>();
  return table;
}

} // namespace holdfast::cpu
