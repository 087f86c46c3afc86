// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the affine codecs on one group of elements that share a
// scale and a bias. Codes, scales and biases are those of MLX's affine
// quantize on an array of the scales' format (docs/codecs.md has the steps and
// where they round). Pure functions; any thread; nothing allocates.

#pragma once

#include <cstdint>

#include "holdfast/codec/affine_layout.h"

namespace holdfast {

inline constexpr int64_t kAffineLargestGroup = 128;

/// As stored: patterns of affine_scale_format().
struct AffineScale {
  uint16_t scale = 0;
  uint16_t bias = 0;
  bool operator==(const AffineScale&) const = default;
};

/// As numbers: an element is code * scale + bias.
struct AffineLine {
  float scale = 0.0f;
  float bias = 0.0f;
};

/// Rounds to the stored format, to nearest even; NaN stays NaN.
AffineScale affine_scale(int bits, AffineLine line);
AffineLine affine_line(int bits, AffineScale scale);

/// One element, rounded once to f32: the product is exact.
inline float affine_decode(uint8_t code, AffineLine line) {
  return static_cast<float>(code) * line.scale + line.bias;
}

} // namespace holdfast
