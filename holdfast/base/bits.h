// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions between f32 and the 16-bit floating formats, and rounding
// helpers. Round to nearest even everywhere. A NaN keeps its sign and as much
// of its payload as fits (made quiet where nothing would be left), so that
// every 16-bit pattern survives the way through f32 and back. Any thread.

#pragma once

#include <bit>
#include <cstdint>

namespace holdfast {

inline float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { // NaN
    const uint32_t quiet = bits & 0x7f0000u ? 0u : 0x40u;
    return static_cast<uint16_t>((bits >> 16) | quiet);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float f16_to_f32(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) { // infinity, NaN
    return std::bit_cast<float>(
        sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  }
  // 2^112 moves the exponent bias from 15 to 127, subnormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

inline uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { // NaN
    const uint32_t payload = (magnitude >> 13) & 0x3ffu;
    return static_cast<uint16_t>(
        sign | 0x7c00u | (payload != 0 ? payload : 0x200u));
  }
  if (magnitude >= 0x477ff000u) { // 65520 and more round to infinity
    return sign | 0x7c00u;
  }
  if (magnitude < 0x38800000u) { // below 2^-14: a multiple of 2^-24
    // Adding 0.5 leaves the multiple, rounded to even, in the low mantissa
    // bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(
      sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
constexpr int64_t round_up(int64_t a, int64_t b) {
  return ceil_div(a, b) * b;
}

} // namespace holdfast
