// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/tile_product.h"

#include "holdfast/kernels/cpu/tile_product-inl.h"
#include "holdfast/kernels/cpu/tile_vec256-inl.h"

namespace holdfast::cpu {

void tile_product_vec256(
    const uint16_t* a,
    const uint16_t* b,
    int rows,
    float* c) {
  tile_product<Vec256Tiles>(a, b, rows, c);
}

} // namespace holdfast::cpu
