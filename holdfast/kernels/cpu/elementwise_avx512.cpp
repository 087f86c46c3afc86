// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/elementwise-inl.h"

namespace holdfast::cpu {

const LaneTable& avx512_lanes() {
  static constexpr LaneTable table = make_table<Avx512F32>();
  return table;
}

} // namespace holdfast::cpu
