// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the affine codecs on one group of elements that share a
// scale and a bias. Codes, scales and biases are those of MLX's affine
// quantize on a bf16 array (docs/codecs.md has the steps and where they round).
// Pure functions; any thread; nothing allocates.

#pragma once

#include <cstdint>
#include <span>

#include "holdfast/base/bits.h"

namespace holdfast {

inline constexpr int64_t kAffineLargestGroup = 128;
/// Scale and bias of a group that is not finite.
inline constexpr uint16_t kAffineNan = 0x7fc0;

/// An element is code * scale + bias. Both are bf16 patterns.
struct AffineScale {
  uint16_t scale = 0;
  uint16_t bias = 0;
  bool operator==(const AffineScale&) const = default;
};

/// Rounds a group to bf16, then encodes it: codes[i] in [0, 2^bits). A group
/// that holds an infinity or a NaN gets zero codes and decodes to NaN. Throws
/// on groups of other sizes than multiples of 32 up to 128.
AffineScale
affine_encode(int bits, std::span<const float> group, std::span<uint8_t> codes);

/// One element, rounded once to f32: the product is exact.
inline float affine_decode(uint8_t code, AffineScale scale) {
  return static_cast<float>(code) * bf16_to_f32(scale.scale) +
      bf16_to_f32(scale.bias);
}

} // namespace holdfast
