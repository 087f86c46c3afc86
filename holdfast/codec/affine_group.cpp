// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/affine_group.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "holdfast/base/bits.h"
#include "holdfast/codec/bf16_vector.h"

namespace holdfast {

namespace {

constexpr size_t kLargestGroup = 128;
constexpr size_t kLanes = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint16_t kNan = 0x7fc0;

// Smallest and largest element, in lanes, so that compilers can do several at
// once.
struct Range {
  float low;
  float high;
};

Range range_of(std::span<const float> values) {
  std::array<float, kLanes> low;
  std::array<float, kLanes> high;
  low.fill(kInfinity);
  high.fill(-kInfinity);
  for (size_t first = 0; first < values.size(); first += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) {
      const float x = values[first + i];
      low[i] = x < low[i] ? x : low[i];
      high[i] = x > high[i] ? x : high[i];
    }
  }
  return {
      *std::min_element(low.begin(), low.end()),
      *std::max_element(high.begin(), high.end())};
}

} // namespace

AffineScale affine_encode(
    int bits,
    std::span<const float> group,
    std::span<uint8_t> codes) {
  std::array<float, kLargestGroup> buffer;
  const std::span<float> values(buffer.data(), group.size());
  if (!round_to_bf16(group, values)) {
    std::fill(codes.begin(), codes.end(), uint8_t{0});
    return {kNan, kNan};
  }
  const auto top = static_cast<float>((1 << bits) - 1);
  const auto [low, high] = range_of(values);
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
  for (size_t i = 0; i < values.size(); ++i) {
    const float exact = (values[i] - bias) / scale;
    // 0 / 0 where one huge value fills the group: its code does not matter.
    const float positive = exact > 0.0f ? exact : 0.0f;
    const float within = positive < top ? positive : top;
    // Adding 2^23 rounds to an integer, to nearest even.
    codes[i] =
        static_cast<uint8_t>(static_cast<int>(within + 0x1p23f - 0x1p23f));
  }
  return {f32_to_bf16(scale), f32_to_bf16(bias)};
}

float affine_decode(uint8_t code, AffineScale scale) {
  return static_cast<float>(code) * bf16_to_f32(scale.scale) +
      bf16_to_f32(scale.bias);
}

} // namespace holdfast
