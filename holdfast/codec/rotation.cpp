// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/rotation.h"

#include <string>

#include "holdfast/base/check.h"

namespace holdfast {

namespace {

void require(std::span<const float> vector) {
  if (!can_rotate(static_cast<int64_t>(vector.size()))) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "[rotate] expected a multiple of " + std::to_string(kRotationDimStep) +
            " elements from " + std::to_string(kRotationMinDim) + " to " +
            std::to_string(kRotationMaxDim) + ", got " +
            std::to_string(vector.size()));
  }
}

void flip_signs(float* x, int64_t width, int pass) {
  for (int64_t word = 0; word * 64 < width; ++word) {
    const uint64_t signs = rotation_sign_word(pass, word);
    const int64_t count = width < 64 ? width : 64;
    for (int64_t i = 0; i < count; ++i) {
      const auto flip = static_cast<uint32_t>(signs >> i & 1) << 31;
      float& value = x[word * 64 + i];
      value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ flip);
    }
  }
}

// Stages of pairs 1, 2, 4, ... apart, each (a + b, a - b); then one product.
void transform(float* x, int64_t width) {
  for (int64_t apart = 1; apart < width; apart *= 2) {
    for (int64_t first = 0; first < width; first += 2 * apart) {
      for (int64_t i = first; i < first + apart; ++i) {
        const float a = x[i];
        const float b = x[i + apart];
        x[i] = a + b;
        x[i + apart] = a - b;
      }
    }
  }
  const float scale = rotation_scale(width);
  for (int64_t i = 0; i < width; ++i) {
    x[i] *= scale;
  }
}

} // namespace

void rotate(std::span<float> vector) {
  require(vector);
  const auto dim = static_cast<int64_t>(vector.size());
  const int64_t width = rotation_width(dim);
  for (int pass = 0; pass < rotation_passes(dim); ++pass) {
    float* x = vector.data() + rotation_offset(dim, pass);
    flip_signs(x, width, pass);
    transform(x, width);
  }
}

void unrotate(std::span<float> vector) {
  require(vector);
  const auto dim = static_cast<int64_t>(vector.size());
  const int64_t width = rotation_width(dim);
  for (int pass = rotation_passes(dim) - 1; pass >= 0; --pass) {
    float* x = vector.data() + rotation_offset(dim, pass);
    transform(x, width);
    flip_signs(x, width, pass);
  }
}

} // namespace holdfast
