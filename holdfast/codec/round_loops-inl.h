// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The first step of every code: a vector rounded to bf16, to nearest even.
// Include it in vector_loops_*.cpp alone.

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

} // namespace
} // namespace holdfast
