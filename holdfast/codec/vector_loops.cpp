// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/vector_loops.h"

#include "holdfast/env/cpu.h"

namespace holdfast {

const VectorLoops& vector_loops() {
#if defined(__x86_64__)
  switch (best_kernel_path()) {
    case KernelPath::kAmx:
    case KernelPath::kAvx512:
      return avx512_loops();
    case KernelPath::kAvx2:
      return avx2_loops();
    case KernelPath::kPlain:
      break;
  }
#endif
  return plain_loops();
}

} // namespace holdfast
