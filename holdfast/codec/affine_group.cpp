// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine_group.h"

#include "holdfast/base/bits.h"
#include "holdfast/base/check.h"
#include "holdfast/codec/vector_loops.h"

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

AffineScale affine_encode(
    int bits,
    std::span<const float> group,
    std::span<uint8_t> codes) {
  const auto count = static_cast<int64_t>(group.size());
  expect(
      (count == 32 || count == 64 || count == 128) &&
          codes.size() == group.size(),
      "[affine_encode] expected a group of 32, 64 or 128 elements and as many "
      "codes, got others");
  AffineScale scale;
  vector_loops().affine_encode(
      {bits, count},
      {.vectors = group.data(),
       .count = 1,
       .dim = count,
       .codes = codes.data()},
      &scale);
  return scale;
}

} // namespace holdfast
