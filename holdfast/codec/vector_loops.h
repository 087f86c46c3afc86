// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The loops behind the codecs, in plain C++ for every processor and in AVX-512.
// Both compute the same numbers in the same order, so they write the same bits.
// Immutable; any thread.

#pragma once

#include <cstdint>

#include "holdfast/codec/affine_group.h"

namespace holdfast {

/// Vectors that are encoded at a time, at most: the tokens of a tile of keys.
inline constexpr int64_t kVectorsAtOnce = 16;
/// Vectors [dim], `stride` floats apart, and where their codes [dim] go, `row`
/// bytes apart.
struct CodedVectors {
  const float* vectors = nullptr;
  int64_t stride = 0;
  int64_t count = 0; // up to kVectorsAtOnce
  int64_t dim = 0;
  uint8_t* codes = nullptr;
  int64_t row = 0;

  const float* vector(int64_t i) const {
    return vectors + i * stride;
  }
  uint8_t* codes_of(int64_t i) const {
    return codes + i * row;
  }
};
/// How an affine codec stores them.
struct AffineWidths {
  int bits = 0;
  int64_t group = 0; // 32, 64 or 128
};

/// Tokens in neighbouring slots of a plane.
struct SlotRun {
  int64_t slot = 0;
  int64_t count = 0;
  int64_t dim = 0;
};

/// Pointers instead of spans: what an instruction set's file instantiates of a
/// header must not be shared with the others.
struct VectorLoops {
  /// Rounds each group to bf16, then to the scales' format, and encodes it:
  /// codes in [0, 2^bits). One that holds an infinity or a NaN gets zero codes
  /// and decodes to NaN. scales: [count][dim / group].
  void (*affine_encode)(
      const AffineWidths& widths,
      const CodedVectors& vectors,
      AffineScale* scales);
  /// Rounds each vector to bf16, rotates it (can_rotate()) and writes its codes
  /// in [0, 2^bits): element d of the rotated one is about
  /// norm * turbo_level(bits, codes[d]). One with an infinity or a NaN, or
  /// whose sum of squares overflows, gets the norm NaN. norms: [count].
  void (*turbo_encode)(int bits, const CodedVectors& vectors, float* norms);
  void (*rotate)(float* vector, int64_t dim);
  void (*unrotate)(float* vector, int64_t dim);
  /// Codes into the tiles of a plane (code_tile.h), those of keys
  /// [count][code_key_width(dim)], of values [count][dim].
  void (*put_key_codes)(
      int bits,
      const SlotRun& run,
      const uint8_t* codes,
      uint16_t* plane);
  void (*put_value_codes)(
      int bits,
      const SlotRun& run,
      const uint8_t* codes,
      uint16_t* plane);
  /// Vectors [count][dim] of a plane of bf16 (dense_layout.h).
  void (*read_bf16_keys)(
      const SlotRun& run,
      const uint16_t* plane,
      float* vectors);
  void (*read_bf16_values)(
      const SlotRun& run,
      const uint16_t* plane,
      float* vectors);
};

const VectorLoops& plain_loops();
/// The plain ones in registers of AVX2, or of NEON. Only where kAvx2 or kNeon
/// runs.
const VectorLoops& vec256_loops();
/// Only where the processor is x86-64 and has AVX-512 F, BW, DQ and VL.
const VectorLoops& avx512_loops();
/// The faster of those that this processor runs.
const VectorLoops& vector_loops();

} // namespace holdfast
