// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/kernels/cpu/weight_pack.h"

#include <cstring>

#include "holdfast/kernels/cpu/expand-inl.h"

namespace holdfast::cpu {

void pack_code_tile_plain(
    const uint8_t* codes,
    int64_t stride,
    int bits,
    uint8_t* tile) {
  const int per_word = 16 / bits;
  const int direct = per_word * bits;
  const int spare = 16 - direct;
  const uint32_t mask = (1u << bits) - 1u;
  for (int word = 0; word < bits; ++word) {
    for (int lane = 0; lane < 32; ++lane) {
      const auto code = [&](int row) {
        return codes[lane / 2 * stride + 2 * row + lane % 2] & mask;
      };
      uint32_t packed = 0;
      for (int s = 0; s < per_word; ++s) {
        packed |= code(word * per_word + s) << (s * bits);
      }
      for (int i = 0; i < spare; ++i) {
        const int at = word * spare + i;
        packed |= ((code(direct + at / bits) >> (at % bits)) & 1u)
            << (direct + i);
      }
      const auto stored = static_cast<uint16_t>(packed);
      std::memcpy(tile + 64 * word + 2 * lane, &stored, 2);
    }
  }
}

void pack_bf16_tile_plain(
    const uint16_t* values,
    int64_t stride,
    uint16_t* tile) {
  for (int pair = 0; pair < 16; ++pair) {
    for (int lane = 0; lane < 32; ++lane) {
      tile[32 * pair + lane] = values[lane / 2 * stride + 2 * pair + lane % 2];
    }
  }
}

} // namespace holdfast::cpu
