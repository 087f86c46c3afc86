// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes to bf16 in standard C++; expand-inl.h defines the result. Stateless;
// any thread.

#pragma once

#include <cmath>

#include "holdfast/base/bits.h"
#include "holdfast/kernels/cpu/expand-inl.h"

namespace holdfast::cpu {
namespace {

/// fp16 of a f64, rounded once: by way of a f32 whose last bit is set where it
/// is not exact, which no later rounding to 11 bits can tell from more bits.
inline uint16_t f16_rounded_once(double exact) {
  const auto near = static_cast<float>(exact);
  auto bits = std::bit_cast<uint32_t>(near);
  if (static_cast<double>(near) != exact) {
    if (std::abs(static_cast<double>(near)) > std::abs(exact)) {
      --bits;
    }
    bits |= 1u;
  }
  return f32_to_f16(std::bit_cast<float>(bits));
}

template <int kBits, bool kOffsets>
inline void
expand_plain(const uint8_t* tile, const TileScales& scales, uint16_t* out) {
  const auto half = [](const uint8_t* from, int column) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * column, 2);
    return static_cast<double>(f16_to_f32(bits));
  };
  for (int row = 0; row < 16; ++row) {
    for (int lane = 0; lane < 32; ++lane) {
      const double scale = half(scales.scales[row / 8], lane / 2);
      const double offset = kOffsets ? half(scales.offsets[row / 8], lane / 2)
                                     : -scale * (1 << (kBits - 1));
      const auto code = static_cast<double>(tile_code(tile, kBits, row, lane));
      // Exact: 19 bits of product and 11 of offset, within 40 places.
      const uint32_t h = f16_rounded_once(scale * code + offset);
      const uint32_t magnitude = (h & 0x7fffu) + 4u;
      out[32 * row + lane] =
          static_cast<uint16_t>((h & 0x8000u) | magnitude >> 3);
    }
  }
}

} // namespace
} // namespace holdfast::cpu
