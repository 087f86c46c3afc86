// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <bit>

#include "holdfast/codec/affine_loops-inl.h"
#include "holdfast/codec/bf16_loops-inl.h"
#include "holdfast/codec/code_loops-inl.h"
#include "holdfast/codec/turbo_loops-inl.h"

// After the loops that it names.
#include "holdfast/codec/loop_table-inl.h"

namespace holdfast {

const VectorLoops& vec256_loops() {
  static constexpr VectorLoops loops = loop_table();
  return loops;
}

} // namespace holdfast
