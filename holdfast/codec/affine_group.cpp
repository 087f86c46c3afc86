// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine_group.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/base/bits.h"

namespace holdfast {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint16_t kNan = 0x7fc0;

float rounded(float x) {
  return bf16_to_f32(f32_to_bf16(x));
}

} // namespace

AffineScale affine_encode(
    int bits,
    std::span<const float> group,
    std::span<uint8_t> codes) {
  const auto top = static_cast<float>((1 << bits) - 1);
  float low = kInfinity;
  float high = -kInfinity;
  bool finite = true;
  for (const float x : group) {
    const float value = rounded(x);
    low = std::min(low, value);
    high = std::max(high, value);
    finite = finite && std::abs(value) < kInfinity;
  }
  if (!finite) {
    std::fill(codes.begin(), codes.end(), uint8_t{0});
    return {kNan, kNan};
  }
  // The end of the range that lies farther from zero is met exactly; the scale
  // is moved a little, so that zero is a multiple of it away from that end.
  const bool from_low = std::abs(low) > std::abs(high);
  const float edge = from_low ? low : high;
  float scale = std::max((high - low) / top, 1e-7f);
  scale = from_low ? scale : -scale;
  float bias = 0.0f;
  const float steps = std::rint(edge / scale);
  if (steps != 0.0f) {
    scale = edge / steps;
    bias = edge;
  }
  for (size_t i = 0; i < group.size(); ++i) {
    const float code = std::rint((rounded(group[i]) - bias) / scale);
    // 0 / 0 where one huge value fills the group: its code does not matter.
    codes[i] = code > 0.0f ? static_cast<uint8_t>(std::min(code, top)) : 0;
  }
  return {f32_to_bf16(scale), f32_to_bf16(bias)};
}

float affine_decode(uint8_t code, AffineScale scale) {
  return static_cast<float>(code) * bf16_to_f32(scale.scale) +
      bf16_to_f32(scale.bias);
}

} // namespace holdfast
