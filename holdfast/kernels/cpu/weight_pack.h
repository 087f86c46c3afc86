// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Packing of one tile: 16 rows of W by 32 k. All forms write the same bytes.
// Stateless; any thread.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

/// codes: 16 rows of 32, `stride` bytes apart, each below 2^bits. tile: 64 bits
/// bytes.
using PackCodeTile =
    void (*)(const uint8_t* codes, int64_t stride, int bits, uint8_t* tile);

void pack_code_tile_plain(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile);
void pack_code_tile_vec256(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile);
void pack_code_tile_avx512(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile);

/// values: 16 rows of 32 bf16, `stride` values apart. tile: 512 values.
using PackBf16Tile =
    void (*)(const uint16_t* values, int64_t stride, uint16_t* tile);

void pack_bf16_tile_plain(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile);
void pack_bf16_tile_vec256(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile);
void pack_bf16_tile_avx512(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile);

} // namespace holdfast::cpu
