// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/recurrent-inl.h"

namespace holdfast::cpu {

const RecurrentKernels& recurrent_kernels_plain() {
  static constexpr RecurrentKernels table = make_recurrent<PlainF32>();
  return table;
}

} // namespace holdfast::cpu
