// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/math_vec256-inl.h"
#include "holdfast/kernels/cpu/recurrent-inl.h"

namespace holdfast::cpu {

const RecurrentKernels& recurrent_kernels_vec256() {
  static constexpr RecurrentKernels table = make_recurrent<Vec256F32>();
  return table;
}

} // namespace holdfast::cpu
