// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/recurrent-inl.h"

namespace holdfast::cpu {

const RecurrentKernels& recurrent_kernels_avx512() {
  static constexpr RecurrentKernels table = make_recurrent<Avx512F32>();
  return table;
}

} // namespace holdfast::cpu
