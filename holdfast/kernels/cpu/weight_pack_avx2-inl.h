// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the AVX2 and AVX-512 forms of weight_pack.h share. Stateless; any
// thread.

#pragma once

#include <type_traits>

#include "holdfast/kernels/cpu/intrinsics.h"

namespace holdfast::cpu {
namespace {

/// Four rounds rotate the address (register, element) by one bit each: half by
/// half, register 2e + h then holds element e of source rows 8h..8h + 7.
inline void sort_elements(__m256i r[16]) {
  __m256i t[16];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 8; ++i) {
      t[2 * i] = _mm256_unpacklo_epi16(r[i], r[i + 8]);
      t[2 * i + 1] = _mm256_unpackhi_epi16(r[i], r[i + 8]);
    }
    for (int i = 0; i < 8; ++i) {
      r[2 * i] = _mm256_unpacklo_epi16(t[i], t[i + 8]);
      r[2 * i + 1] = _mm256_unpackhi_epi16(t[i], t[i + 8]);
    }
  }
}

/// pack(n), n a constant equal to `bits`, 2 to 8.
template <class Pack>
void pack_with_bits(int bits, const Pack& pack) {
  switch (bits) {
    case 2:
      return pack(std::integral_constant<int, 2>());
    case 3:
      return pack(std::integral_constant<int, 3>());
    case 4:
      return pack(std::integral_constant<int, 4>());
    case 5:
      return pack(std::integral_constant<int, 5>());
    case 6:
      return pack(std::integral_constant<int, 6>());
    case 7:
      return pack(std::integral_constant<int, 7>());
    default:
      return pack(std::integral_constant<int, 8>());
  }
}

} // namespace
} // namespace holdfast::cpu
