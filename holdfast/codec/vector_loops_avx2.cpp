// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <bit>

#include "holdfast/codec/affine_loops-inl.h"
#include "holdfast/codec/bf16_loops-inl.h"
#include "holdfast/codec/code_loops-inl.h"
#include "holdfast/codec/turbo_loops-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {

const VectorLoops& avx2_loops() {
  static constexpr VectorLoops loops{
      .affine_encode = affine_encode_loop,
      .turbo_encode = turbo_encode_loop,
      .rotate = rotate_loop,
      .unrotate = unrotate_loop,
      .put_key_codes = put_key_codes,
      .put_value_codes = put_value_codes,
      .read_bf16_keys = read_bf16_keys,
      .read_bf16_values = read_bf16_values};
  return loops;
}

} // namespace holdfast
