// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Where the affine codecs put a head's codes, scales and biases over a block:
// the codecs and the kernels agree through this file and code_tile.h alone.
// Planes, for keys and values alike: codes, scales, biases. An element is
// code * scale + bias, with the scale and the bias of its token and group of
// `group` elements, both in the format that the codes' width asks for. Pure
// functions; any thread.

#pragma once

#include <cstdint>

#include "holdfast/codec/code_tile.h"
#include "holdfast/codec/dense_layout.h"

namespace holdfast {

inline constexpr int64_t kAffineMaxDim = 512;
inline constexpr int64_t kAffineMostGroups = kAffineMaxDim / 32;

/// Planes of a channel, in order.
enum AffinePlane { kAffineCodes, kAffineScales, kAffineBiases, kAffinePlanes };

/// Head sizes: multiples of the group, which is one of 32 (so that keys need
/// no padding).
constexpr bool affine_fits(int64_t group, int64_t dim) {
  return dim > 0 && dim <= kAffineMaxDim && dim % group == 0;
}

/// Of scales and biases. The largest code times a scale is wrong by up to code
/// * 2^-9 scales where those are bf16: half a step at 8 bits, where f16 has
/// eight times less; nothing beside half a step at fewer.
constexpr DenseFormat affine_scale_format(int bits) {
  return bits == 8 ? DenseFormat::kF16 : DenseFormat::kBf16;
}

/// Scales and biases: [dim / group][64 tokens]. Index in elements.
constexpr int64_t affine_scale_index(int64_t group, int64_t t, int64_t d) {
  return d / group * kBlockTokens + t;
}
constexpr int64_t affine_scale_bytes(int64_t group, int64_t dim) {
  return dim / group * kBlockTokens * 2;
}

} // namespace holdfast
