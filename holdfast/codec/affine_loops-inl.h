// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// affine_encode() of vector_loops.h. Include it in vector_loops_plain.cpp
// alone.

#pragma once

#include "holdfast/codec/affine_group.h"
#include "holdfast/codec/lanes-inl.h"
#include "holdfast/codec/round_loops-inl.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

/// Smallest and largest element.
struct Range {
  float low;
  float high;
};

inline Range range_of(const float* values, int64_t count) {
  FloatLanes low = FloatLanes{} + __builtin_inff();
  FloatLanes high = -low;
  for (int64_t first = 0; first < count; first += kLanes) {
    FloatLanes x;
    load(values + first, x);
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  return {
      fold_lanes(
          low,
          [](FloatLanes& x, const FloatLanes& other) {
            x = other < x ? other : x;
          }),
      fold_lanes(high, [](FloatLanes& x, const FloatLanes& other) {
        x = other > x ? other : x;
      })};
}

inline AffineLine affine_encode_group(
    int bits,
    const float* group,
    int64_t count,
    uint8_t* codes) {
  float values[kAffineLargestGroup];
  const bool f16 = affine_scale_format(bits) == DenseFormat::kF16;
  if (!round_to_bf16(group, count, values) ||
      (f16 && !round_to_f16(values, count))) {
    for (int64_t i = 0; i < count; ++i) {
      codes[i] = 0;
    }
    constexpr float nan = __builtin_nanf("");
    return {nan, nan};
  }
  const auto top = static_cast<float>((1 << bits) - 1);
  const Range range = range_of(values, count);
  // The end of the range that lies farther from zero is met exactly; the scale
  // is moved a little, so that zero is a multiple of it away from that end.
  const bool from_low =
      __builtin_fabsf(range.low) > __builtin_fabsf(range.high);
  const float edge = from_low ? range.low : range.high;
  const float even = (range.high - range.low) / top;
  float scale = even > 1e-7f ? even : 1e-7f;
  scale = from_low ? scale : -scale;
  float bias = 0.0f;
  const float steps = __builtin_rintf(edge / scale);
  if (steps != 0.0f) {
    scale = edge / steps;
    bias = edge;
  }
  for (int64_t i = 0; i < count; ++i) {
    const float exact = (values[i] - bias) / scale;
    // 0 / 0 where one huge value fills the group: its code does not matter.
    const float positive = exact > 0.0f ? exact : 0.0f;
    const float within = positive < top ? positive : top;
    // Adding 2^23 rounds to an integer, to nearest even.
    codes[i] =
        static_cast<uint8_t>(static_cast<int>(within + 0x1p23f - 0x1p23f));
  }
  return {scale, bias};
}

inline void affine_encode_loop(
    const AffineWidths& widths,
    const CodedVectors& vectors,
    AffineScale* scales) {
  const auto [bits, group] = widths;
  for (int64_t i = 0; i < vectors.count; ++i) {
    for (int64_t d = 0; d < vectors.dim; d += group) {
      *scales++ = affine_scale(
          bits,
          affine_encode_group(
              bits, vectors.vector(i) + d, group, vectors.codes_of(i) + d));
    }
  }
}

} // namespace
} // namespace holdfast
