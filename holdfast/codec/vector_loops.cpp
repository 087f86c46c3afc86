// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/vector_loops.h"

#include "holdfast/env/for_path.h"

namespace holdfast {

const VectorLoops& vector_loops() {
  return for_path<avx512_loops, avx512_loops, vec256_loops, plain_loops>(
      best_kernel_path())();
}

} // namespace holdfast
