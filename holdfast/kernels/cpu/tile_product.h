// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tile product as a function, by path: what tests compare. Kernels use the
// classes of tile-inl.h. Stateless; any thread.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

/// c[r][n] += sum over k of a[r][k] b[k / 2][n][k % 2] for r < rows <= 16.
/// a: [16][32] bf16; b: [16][16][2] bf16; c: [16][16].
void tile_product_plain(
    const uint16_t* a,
    const uint16_t* b,
    int rows,
    float* c);
void tile_product_avx2(
    const uint16_t* a,
    const uint16_t* b,
    int rows,
    float* c);
/// Only where kAvx2 or kNeon runs.
void tile_product_vec256(
    const uint16_t* a,
    const uint16_t* b,
    int rows,
    float* c);
void tile_product_avx512(
    const uint16_t* a,
    const uint16_t* b,
    int rows,
    float* c);
/// Needs best_kernel_path() to be kAmx.
void tile_product_amx(const uint16_t* a, const uint16_t* b, int rows, float* c);

} // namespace holdfast::cpu
