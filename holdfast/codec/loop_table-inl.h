// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The loops of one instruction set as a table. Include it in that set's
// vector_loops_*.cpp alone, behind the headers of the loops.

#pragma once

#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

constexpr VectorLoops loop_table() {
  return {
      .affine_encode = affine_encode_loop,
      .turbo_encode = turbo_encode_loop,
      .rotate = rotate_loop,
      .unrotate = unrotate_loop,
      .put_key_codes = put_key_codes,
      .put_value_codes = put_value_codes,
      .read_bf16_keys = read_bf16_keys,
      .read_bf16_values = read_bf16_values};
}

} // namespace
} // namespace holdfast
