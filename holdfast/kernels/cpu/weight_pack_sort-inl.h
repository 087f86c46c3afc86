// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What the vector forms of weight_pack.h share. Include it in a kernel's .cpp
// file alone. Stateless; any thread.

#pragma once

#include <type_traits>

namespace holdfast::cpu {
namespace {

/// r[16] are vectors of 256 bits; lower and upper interleave the 16-bit lanes
/// of two within each 128 bits. Four rounds rotate the address (register,
/// element) by one bit each: half by half, register 2e + h then holds element
/// e of source rows 8h..8h + 7.
template <class R, class Lower, class Upper>
inline void sort_elements(R* r, const Lower& lower, const Upper& upper) {
  R t[16];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 8; ++i) {
      t[2 * i] = lower(r[i], r[i + 8]);
      t[2 * i + 1] = upper(r[i], r[i + 8]);
    }
    for (int i = 0; i < 8; ++i) {
      r[2 * i] = lower(t[i], t[i + 8]);
      r[2 * i + 1] = upper(t[i], t[i + 8]);
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
