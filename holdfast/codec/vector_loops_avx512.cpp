// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <bit>

#include "holdfast/codec/affine_avx512-inl.h"
#include "holdfast/codec/bf16_avx512-inl.h"
#include "holdfast/codec/code_avx512-inl.h"
#include "holdfast/codec/turbo_avx512-inl.h"

// After the loops that it names.
#include "holdfast/codec/loop_table-inl.h"

namespace holdfast {

const VectorLoops& avx512_loops() {
  static constexpr VectorLoops loops = loop_table();
  return loops;
}

} // namespace holdfast
