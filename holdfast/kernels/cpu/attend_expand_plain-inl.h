// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes and digits as attention's integer products read them, in standard C++;
// the AVX-512 forms give the same. Include it in a kernel's .cpp file alone.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/codec/code_tile.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

/// `count` tiles of codes to half tiles [8][16][4] of what they stand for,
/// `stride` bytes apart.
inline void expand_tiles_plain(
    const CodedPlanes& codes,
    const std::byte* from,
    int64_t count,
    int8_t* to,
    int64_t stride) {
  uint16_t lines[8 * kCodeTileWords];
  const auto bytes = static_cast<size_t>(code_tile_bytes(codes.bits));
  for (int64_t tile = 0; tile < count; ++tile) {
    std::memcpy(lines, from + tile * static_cast<int64_t>(bytes), bytes);
    for (int64_t i = 0; i < 32; ++i) {
      const int64_t k = codes.order[i];
      for (int64_t column = 0; column < 16; ++column) {
        const uint32_t code =
            get_code(lines, codes.bits, k / 2, 2 * column + k % 2);
        to[tile * stride + i / 4 * 64 + 4 * column + i % 4] = codes.bits == 8
            ? static_cast<int8_t>(code ^ 0x80u)
            : codes.levels[code];
      }
    }
  }
}

/// 64 numbers times `factor`, up to 16256 then, rounded and written as two
/// digits each: 128 * high + low, in the order of the codes' tiles.
inline void split_digits_plain(
    const CodedPlanes& codes,
    const float* x,
    float factor,
    int8_t* high,
    int8_t* low) {
  for (int64_t i = 0; i < 64; ++i) {
    const auto n =
        static_cast<int32_t>(std::nearbyint(x[codes.order[i]] * factor));
    const int32_t digit = (n + 64) >> 7;
    high[i] = static_cast<int8_t>(digit);
    low[i] = static_cast<int8_t>(n - digit * 128);
  }
}

} // namespace
} // namespace holdfast::cpu
