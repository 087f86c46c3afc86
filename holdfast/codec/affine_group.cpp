// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine_group.h"

#include "holdfast/base/bits.h"

namespace holdfast {

AffineScale affine_scale(int bits, AffineLine line) {
  if (affine_scale_format(bits) == DenseFormat::kF16) {
    return {f32_to_f16(line.scale), f32_to_f16(line.bias)};
  }
  return {f32_to_bf16(line.scale), f32_to_bf16(line.bias)};
}

AffineLine affine_line(int bits, AffineScale scale) {
  if (affine_scale_format(bits) == DenseFormat::kF16) {
    return {f16_to_f32(scale.scale), f16_to_f32(scale.bias)};
  }
  return {bf16_to_f32(scale.scale), bf16_to_f32(scale.bias)};
}

} // namespace holdfast
