// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Planes of bf16 as floats, token by token. Include it in
// vector_loops_plain.cpp alone.

#pragma once

#include "holdfast/base/bits.h"
#include "holdfast/codec/dense_layout.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

/// Elements 2 i and 2 i + 1 of a key are neighbours; pairs are 32 apart.
inline void
read_bf16_keys(const SlotRun& run, const uint16_t* plane, float* vectors) {
  const int64_t width = dense_key_width(DenseFormat::kBf16, run.dim);
  for (int64_t i = 0; i < run.count; ++i) {
    float* vector = vectors + i * run.dim;
    for (int64_t first = 0; first < run.dim; first += 16) {
      const uint16_t* from =
          plane + tiled_key_index(width, run.slot + i, first);
      for (int64_t d = 0; d < 16; ++d) {
        vector[first + d] = bf16_to_f32(from[d / 2 * 32 + d % 2]);
      }
    }
  }
}

/// Elements of a value are two apart.
inline void
read_bf16_values(const SlotRun& run, const uint16_t* plane, float* vectors) {
  for (int64_t i = 0; i < run.count; ++i) {
    float* vector = vectors + i * run.dim;
    for (int64_t first = 0; first < run.dim; first += 16) {
      const uint16_t* from =
          plane + tiled_value_index(run.dim, run.slot + i, first);
      for (int64_t d = 0; d < 16; ++d) {
        vector[first + d] = bf16_to_f32(from[2 * d]);
      }
    }
  }
}

} // namespace
} // namespace holdfast
