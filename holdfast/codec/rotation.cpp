// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/rotation.h"

#include <algorithm>
#include <array>
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

// The sign bits of a pass as masks.
using Masks = std::array<uint32_t, kRotationMaxDim>;

constexpr Masks sign_masks(int pass) {
  Masks masks{};
  for (int64_t i = 0; i < kRotationMaxDim; ++i) {
    masks[i] = rotation_negates(pass, i) ? 0x80000000u : 0u;
  }
  return masks;
}
constexpr Masks kSignMasks[] = {sign_masks(0), sign_masks(1)};

void flip_signs(float* x, int64_t width, int pass) {
  const Masks& masks = kSignMasks[pass];
  for (int64_t i = 0; i < width; ++i) {
    x[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(x[i]) ^ masks[i]);
  }
}

// One stage on `width` elements: pairs `apart` become (a + b, a - b).
template <int64_t width>
void stage_within(float* x, int64_t apart) {
  for (int64_t first = 0; first < width; first += 2 * apart) {
    for (int64_t i = first; i < first + apart; ++i) {
      const float a = x[i];
      const float b = x[i + apart];
      x[i] = a + b;
      x[i + apart] = a - b;
    }
  }
}

// Stages of pairs 1, 2, 4, ... apart; then one product. Stages up to 8 apart
// stay within 16 elements, which are done together.
void transform(float* x, int64_t width) {
  for (int64_t first = 0; first < width; first += 16) {
    float near[16];
    std::copy_n(x + first, 16, near);
    stage_within<16>(near, 1);
    stage_within<16>(near, 2);
    stage_within<16>(near, 4);
    stage_within<16>(near, 8);
    std::copy_n(near, 16, x + first);
  }
  for (int64_t apart = 16; apart < width; apart *= 2) {
    for (int64_t first = 0; first < width; first += 2 * apart) {
      float* const a = x + first;
      float* const b = a + apart;
      for (int64_t i = 0; i < apart; ++i) {
        const float sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
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
