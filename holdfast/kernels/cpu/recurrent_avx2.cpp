// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/math_avx2-inl.h"
#include "holdfast/kernels/cpu/recurrent-inl.h"

namespace holdfast::cpu {

const RecurrentKernels& recurrent_kernels_avx2() {
  static constexpr RecurrentKernels table = make_recurrent<Avx2F32>();
  return table;
}

} // namespace holdfast::cpu
