// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles of codes (codec/code_tile.h) to bf16 tiles in standard C++; the AVX-512
// form gives the same. Include it in a kernel's .cpp file alone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/codec/code_tile.h"
#include "holdfast/kernels/cpu/attend_fetch-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

/// `count` tiles of codes to `count` tiles [16][32] of what they stand for, a
/// step of the fetch list after each.
inline void expand_tiles_plain(
    const CodedPlanes& codes,
    const std::byte* from,
    int64_t count,
    uint16_t* to,
    FetchList& fetch) {
  uint16_t lines[8 * kCodeTileWords];
  for (int64_t tile = 0; tile < count; ++tile) {
    std::memcpy(
        lines,
        from + tile * code_tile_bytes(codes.bits),
        static_cast<size_t>(code_tile_bytes(codes.bits)));
    for (int64_t row = 0; row < kCodeTileRows; ++row) {
      for (int64_t word = 0; word < kCodeTileWords; ++word) {
        const uint32_t code = get_code(lines, codes.bits, row, word);
        *to++ = codes.levels != nullptr
            ? codes.levels[code]
            : static_cast<uint16_t>(f32_to_f16(static_cast<float>(code)) >> 3);
      }
    }
    fetch_step(fetch);
  }
}

} // namespace
} // namespace holdfast::cpu
