// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine_loops-inl.h"
#include "holdfast/codec/turbo_loops-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

const VectorLoops& avx512_loops() {
  static constexpr VectorLoops loops{
      .affine_encode = affine_encode_loop,
      .turbo_encode = turbo_encode_loop<16>,
      .rotate = rotate_loop,
      .unrotate = unrotate_loop};
  return loops;
}

} // namespace holdfast
