// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The loops behind affine_group.h, turbo_vector.h and rotation.h, compiled once
// for every processor and once for AVX-512. Same code, no fused operations, so
// the same bits. Immutable; any thread.

#pragma once

#include <cstdint>

#include "holdfast/codec/affine_group.h"

namespace holdfast {

/// Pointers instead of spans: what an instruction set's file instantiates of a
/// header must not be shared with the others.
struct VectorLoops {
  AffineScale (*affine_encode)(
      int bits,
      const float* group,
      int64_t count,
      uint8_t* codes);
  float (*turbo_encode)(
      int bits,
      const float* vector,
      int64_t dim,
      uint8_t* codes);
  void (*rotate)(float* vector, int64_t dim);
  void (*unrotate)(float* vector, int64_t dim);
};

const VectorLoops& plain_loops();
/// Only where the processor is x86-64 and has AVX-512 F, BW, DQ and VL.
const VectorLoops& avx512_loops();
/// The faster of those that this processor runs.
const VectorLoops& vector_loops();

} // namespace holdfast
