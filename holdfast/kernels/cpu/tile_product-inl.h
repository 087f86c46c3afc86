// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// tile_product.h for one class of tiles. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

template <class Tiles>
inline void
tile_product(const uint16_t* a, const uint16_t* b, int rows, float* c) {
  Tiles tiles(rows);
  tiles.template load_c<1>(c);
  tiles.template load_a<1>(a);
  tiles.template load_b<0>(b);
  tiles.template dot<1, 1, 0>();
  tiles.template store_c<1>(c);
}

} // namespace
} // namespace holdfast::cpu
