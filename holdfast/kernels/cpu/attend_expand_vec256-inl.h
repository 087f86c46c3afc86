// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles of codes (codec/code_tile.h) to bf16 tiles, half a line (16 words) at a
// time. Up to 5 bits a shift brings a row's codes down and byte shuffles look
// them up in tables of 16 levels, their low and high bytes apart; levels repeat
// beyond the code, so shorter codes need no mask of their own. 6 and 8 bits
// become bf16 of 2^-112 times the integer. Include it in a kernel's .cpp file
// alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_expand-inl.h"
#include "holdfast/kernels/cpu/vec256-inl.h"

namespace holdfast::cpu {
namespace {

using Words = Vec256<uint16_t>;

inline Words half_line(const std::byte* from, int line, int half) {
  return load(reinterpret_cast<const uint16_t*>(from + 64 * line + 32 * half));
}
inline void put_half(uint16_t* tile, int row, int half, const Words& x) {
  store(x, tile + 32 * row + 16 * half);
}
inline Words words(int bits) {
  return all(static_cast<uint16_t>(bits));
}

/// 32 levels of 16 bits.
class LevelTable {
 public:
  explicit LevelTable(const uint16_t* levels) {
    alignas(16) uint8_t bytes[16];
    for (int part = 0; part < 4; ++part) { // low, high of 16; of the next 16
      for (int i = 0; i < 16; ++i) {
        bytes[i] =
            static_cast<uint8_t>(levels[16 * (part / 2) + i] >> part % 2 * 8);
      }
      table_[part] = each_part<uint8_t>(
          [&](int) { return hn::LoadDup128(Part<uint8_t>(), bytes); });
    }
  }

  /// The levels of 16 codes: their low kBits bits, or more where levels repeat.
  template <int kBits>
  [[gnu::always_inline]] inline Words look_up(const Words& code) const {
    const Words low4 = code & words(15);
    const Words index = low4 | shift_left<8>(low4);
    const Words first = both(table_[0], table_[1], index);
    if constexpr (kBits <= 4) {
      return first;
    } else {
      const Words second = both(table_[2], table_[3], index);
      // Bit 4 on top of each byte says which.
      const Words bit4 = code & words(16);
      const Words choice = shift_left<3>(bit4) | shift_left<11>(bit4);
      return cast<uint16_t>(by_part(
          [](auto top, auto yes, auto no) {
            return hn::IfNegativeThenElse(top, yes, no);
          },
          cast<int8_t>(choice),
          cast<int8_t>(second),
          cast<int8_t>(first)));
    }
  }

 private:
  using Bytes = Vec256<uint8_t>;

  [[gnu::always_inline]] static inline Words
  both(const Bytes& low, const Bytes& high, const Words& index) {
    const auto of = [&](const Bytes& table) __attribute__((always_inline)) {
      return by_part(
          [](auto t, auto i) { return hn::TableLookupBytes(t, i); },
          table,
          index);
    };
    return mix(words(0xff), of(low), of(high));
  }
  Bytes table_[4];
};

template <int kBits>
inline void
expand_levels(const std::byte* from, const LevelTable& levels, uint16_t* tile) {
  constexpr int kWhole = 16 / kBits;
  for (int half = 0; half < 2; ++half) {
    Words line[kBits];
    unrolled<kBits>([&]<int i>() __attribute__((always_inline)) {
      line[i] = half_line(from, i, half);
      unrolled<kWhole>([&]<int j>() __attribute__((always_inline)) {
        const Words code = shift_right<kBits * j>(line[i]);
        put_half(
            tile, i * kWhole + j, half, levels.template look_up<kBits>(code));
      });
    });
    if constexpr (kWhole * kBits < 16) { // row 15: the top bits of the lines
      Words code = shift_right<15>(line[0]);
      unrolled<kBits - 1>([&]<int i>() __attribute__((always_inline)) {
        code = mix(words(2 << i), shift_right<14 - i>(line[i + 1]), code);
      });
      put_half(tile, 15, half, levels.template look_up<kBits>(code));
    }
  }
}

/// 16 integers below 256 to bf16 of 2^-112 times them.
inline Words narrow_integers(const Words& x) {
  const auto pairs = cast<uint32_t>(x);
  const auto scaled = [](const Vec256<uint32_t>& integers) {
    return cast<uint32_t>(to_float(cast<int32_t>(integers)) * all(0x1p-112f));
  };
  const auto even = scaled(pairs & all<uint32_t>(0xffff));
  const auto odd = scaled(shift_right<16>(pairs));
  return cast<uint16_t>(shift_right<16>(even) | odd);
}

inline void expand_bytes(const std::byte* from, uint16_t* tile) {
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 8; ++i) {
      const Words line = half_line(from, i, half);
      put_half(tile, 2 * i, half, narrow_integers(line & words(0xff)));
      put_half(tile, 2 * i + 1, half, narrow_integers(shift_right<8>(line)));
    }
  }
}

inline void expand_sixes(const std::byte* from, uint16_t* tile) {
  const Words low = words(0x3f);
  for (int half = 0; half < 2; ++half) {
    Words line[6];
    for (int i = 0; i < 6; ++i) {
      line[i] = half_line(from, i, half);
      const Words second = shift_right<6>(line[i]);
      put_half(tile, 2 * i, half, narrow_integers(line[i] & low));
      put_half(tile, 2 * i + 1, half, narrow_integers(second & low));
    }
    // Four bits are left in each word: three lines hold two rows' codes.
    for (int i = 0; i < 2; ++i) {
      const Words* l = line + 3 * i;
      const Words first =
          mix(words(0x30), shift_right<8>(l[1]), shift_right<12>(l[0]));
      const Words second =
          mix(words(0x3c), shift_right<10>(l[2]), shift_right<14>(l[1]));
      put_half(tile, 12 + 2 * i, half, narrow_integers(first));
      put_half(tile, 13 + 2 * i, half, narrow_integers(second));
    }
  }
}

struct ExpandVec256Tile {
  static void bytes(const std::byte* from, uint16_t* tile) {
    expand_bytes(from, tile);
  }
  static void sixes(const std::byte* from, uint16_t* tile) {
    expand_sixes(from, tile);
  }
  static LevelTable table(const uint16_t* levels) {
    return LevelTable(levels);
  }
  template <int kBits>
  static void
  levels(const std::byte* from, const LevelTable& levels, uint16_t* tile) {
    expand_levels<kBits>(from, levels, tile);
  }
};

} // namespace
} // namespace holdfast::cpu
