// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where the dense codecs put element d of token t inside a plane (one head's
// keys or values over a block): the codecs and the kernels agree through this
// file alone. docs/image.md explains the orders. Indices count elements.
// Pure functions; any thread.

#pragma once

#include <cstdint>

namespace holdfast {

/// Head sizes of the dense codecs: multiples of 16 in [16, 512].
inline constexpr int64_t kDenseDimStep = 16;
inline constexpr int64_t kDenseMaxDim = 512;
constexpr bool dense_fits(int64_t dim) {
  return dim >= kDenseDimStep && dim <= kDenseMaxDim &&
      dim % kDenseDimStep == 0;
}

enum class DenseFormat { kF32, kF16, kBf16 };

constexpr int64_t dense_element_bytes(DenseFormat format) {
  return format == DenseFormat::kF32 ? 4 : 2;
}

/// Elements that a token's vector takes: bf16 keys are padded with zeros to
/// whole tiles of 32 elements.
constexpr int64_t dense_key_width(DenseFormat format, int64_t dim) {
  return format == DenseFormat::kBf16 ? (dim + 31) / 32 * 32 : dim;
}

/// f32 and f16 keys: [4 groups of 16 tokens][D][16 tokens].
constexpr int64_t dense_key_index(int64_t dim, int64_t t, int64_t d) {
  return ((t / 16) * dim + d) * 16 + t % 16;
}

/// f32 and f16 values: [64 tokens][D].
constexpr int64_t dense_value_index(int64_t dim, int64_t t, int64_t d) {
  return t * dim + d;
}

/// bf16 keys: [4 groups of 16 tokens][width / 32][16 pairs][16 tokens][2].
constexpr int64_t tiled_key_index(int64_t width, int64_t t, int64_t d) {
  return (((t / 16) * (width / 32) + d / 32) * 16 + d % 32 / 2) * 32 +
      t % 16 * 2 + d % 2;
}

/// bf16 values: [2 groups of 32 tokens][D / 16][16 token pairs][16 d][2].
constexpr int64_t tiled_value_index(int64_t dim, int64_t t, int64_t d) {
  return (((t / 32) * (dim / 16) + d / 16) * 16 + t % 32 / 2) * 32 +
      d % 16 * 2 + t % 2;
}

} // namespace holdfast
