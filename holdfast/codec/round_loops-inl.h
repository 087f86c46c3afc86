// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The first step of every code: a vector rounded to bf16, to nearest even;
// where scales are f16, then to f16.
// Include it in vector_loops_plain.cpp alone.

#pragma once

#include <bit>
#include <cstdint>

namespace holdfast {
namespace {

/// values[i] = vector[i] as bf16, as a float. False, with undefined values,
/// where an element is NaN or infinite or rounds to infinity.
inline bool round_to_bf16(const float* vector, int64_t count, float* values) {
  uint32_t bad = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(vector[i]);
    // The sum is negative as an int from 0x7f7f8000 on, the first magnitude
    // that rounds to infinity.
    bad |= (bits & 0x7fffffffu) + 0x808000u;
    const uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
    values[i] = std::bit_cast<float>(rounded & 0xffff0000u);
  }
  return bad >> 31 == 0;
}

/// bf16 numbers as f16, as floats; false where one is too large. They have no
/// more bits than f16, so that only those below 2^-14, where f16 has multiples
/// of 2^-24, change: 0.5 plus one has just these bits.
inline bool round_to_f16(float* values, int64_t count) {
  uint32_t bad = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(values[i]);
    const uint32_t magnitude = bits & 0x7fffffffu;
    // Negative as an int from 65520 on, which rounds to infinity.
    bad |= magnitude + (0x80000000u - 0x477ff000u);
    const float size = std::bit_cast<float>(magnitude);
    const float rounded = size < 0x1p-14f ? size + 0.5f - 0.5f : size;
    values[i] = std::bit_cast<float>(
        std::bit_cast<uint32_t>(rounded) | (bits & 0x80000000u));
  }
  return bad >> 31 == 0;
}

} // namespace
} // namespace holdfast
