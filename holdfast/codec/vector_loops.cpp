// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/vector_loops.h"

#include "holdfast/env/cpu.h"

namespace holdfast {

const VectorLoops& vector_loops() {
#if defined(__x86_64__)
  static const VectorLoops& best =
      best_kernel_path() == KernelPath::kPlain ? plain_loops() : avx512_loops();
  return best;
#else
  return plain_loops();
#endif
}

} // namespace holdfast
