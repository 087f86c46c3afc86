// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/attend_avx512-inl.h"

namespace holdfast::cpu {

const AttendKernels& attend_kernels_avx512() {
  static const AttendKernels kernels =
      make_attend_kernels<Avx512Isa<Avx512Tiles>>();
  return kernels;
}

} // namespace holdfast::cpu
