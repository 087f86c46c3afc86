// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// One struct a block layout: kBlock weights of kBits in kBytes bytes, scales
// (and offsets, where kOffsets) shared by kGroup weights, and unpack() for one
// block. Codes are worked on eight at a time in 64-bit words (little-endian:
// byte i of a word is code i). Included by gguf_quant.cpp alone. Pure
// functions; any thread.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/base/bits.h"
#include "holdfast/formats/gguf_array.h"

namespace holdfast::gguf {

inline void store8(uint8_t* to, uint64_t word) {
  std::memcpy(to, &word, 8);
}
inline float load_f16(const std::byte* from) {
  return f16_to_f32(load_unaligned<uint16_t>(from));
}

/// Where a block's codes [kBlock], scales and offsets [kBlock / kGroup] go.
struct BlockOut {
  uint8_t* codes;
  float* scales;
  float* offsets;
};

constexpr uint64_t kEach = 0x0101010101010101u; // times b: b in every byte

/// Bit i of `bits` -> byte i, as 0 or 0x10: the fifth bit of eight codes.
inline uint64_t fifth_bits(uint64_t bits) {
  const uint64_t picked = ((bits & 0xff) * kEach) & 0x8040201008040201u;
  // A byte that is not zero carries into its top bit; none overflows.
  return ((picked + 0x7f * kEach) >> 3) & (0x10 * kEach);
}

/// 16 bytes of nibbles -> 32 codes: the low nibbles first, then the high ones.
/// `high` holds the codes' fifth bits, code i in bit i.
inline void unpack_nibbles(const std::byte* from, uint32_t high, uint8_t* to) {
  for (int i = 0; i < 16; i += 8) {
    const auto word = load_unaligned<uint64_t>(from + i);
    store8(to + i, (word & (0x0f * kEach)) | fifth_bits(high >> i));
    store8(
        to + 16 + i,
        ((word >> 4) & (0x0f * kEach)) | fifth_bits(high >> (16 + i)));
  }
}

struct Q8_0 { // f16 scale, 32 signed bytes
  static constexpr int kBits = 8, kBlock = 32, kGroup = 32, kBytes = 34;
  static constexpr bool kOffsets = false;
  static void unpack(const std::byte* from, const BlockOut& out) {
    out.scales[0] = load_f16(from);
    uint64_t words[4];
    std::memcpy(words, from + 2, 32);
    for (uint64_t& word : words) {
      word ^= 0x80 * kEach; // q + 128 modulo 256
    }
    std::memcpy(out.codes, words, 32);
  }
};

struct Q4_0 { // f16 scale, 16 bytes of nibbles
  static constexpr int kBits = 4, kBlock = 32, kGroup = 32, kBytes = 18;
  static constexpr bool kOffsets = false;
  static void unpack(const std::byte* from, const BlockOut& out) {
    out.scales[0] = load_f16(from);
    unpack_nibbles(from + 2, 0, out.codes);
  }
};

struct Q4_1 { // f16 scale, f16 offset, 16 bytes of nibbles
  static constexpr int kBits = 4, kBlock = 32, kGroup = 32, kBytes = 20;
  static constexpr bool kOffsets = true;
  static void unpack(const std::byte* from, const BlockOut& out) {
    out.scales[0] = load_f16(from);
    out.offsets[0] = load_f16(from + 2);
    unpack_nibbles(from + 4, 0, out.codes);
  }
};

struct Q5_0 { // f16 scale, 32 fifth bits, 16 bytes of nibbles
  static constexpr int kBits = 5, kBlock = 32, kGroup = 32, kBytes = 22;
  static constexpr bool kOffsets = false;
  static void unpack(const std::byte* from, const BlockOut& out) {
    out.scales[0] = load_f16(from);
    unpack_nibbles(from + 6, load_unaligned<uint32_t>(from + 2), out.codes);
  }
};

struct Q5_1 { // f16 scale, f16 offset, 32 fifth bits, 16 bytes of nibbles
  static constexpr int kBits = 5, kBlock = 32, kGroup = 32, kBytes = 24;
  static constexpr bool kOffsets = true;
  static void unpack(const std::byte* from, const BlockOut& out) {
    out.scales[0] = load_f16(from);
    out.offsets[0] = load_f16(from + 2);
    unpack_nibbles(from + 8, load_unaligned<uint32_t>(from + 4), out.codes);
  }
};

/// The head shared by Q4_K and Q5_K: f16 d, f16 dmin, then 12 bytes with a
/// 6-bit scale and a 6-bit minimum for each of 8 groups. Bytes 0-3: scales 0-3
/// and, in their top two bits, the top of scales 4-7; bytes 4-7 the same for
/// the minima; bytes 8-11: low nibbles of scales 4-7, high ones of minima 4-7.
/// A weight is (d * scale) * code - (dmin * minimum).
inline void unpack_k_scales(const std::byte* from, const BlockOut& out) {
  const float d = load_f16(from);
  const float dmin = load_f16(from + 2);
  uint8_t packed[12];
  std::memcpy(packed, from + 4, 12);
  for (int j = 0; j < 4; ++j) {
    const int s = packed[j], m = packed[4 + j], low = packed[8 + j];
    out.scales[j] = d * static_cast<float>(s & 63);
    out.offsets[j] = -(dmin * static_cast<float>(m & 63));
    out.scales[4 + j] = d * static_cast<float>((low & 15) | (s >> 6 << 4));
    out.offsets[4 + j] = -(dmin * static_cast<float>(low >> 4 | (m >> 6 << 4)));
  }
}

struct Q4_K { // head, then 4 times 32 bytes of nibbles, a pair of groups each
  static constexpr int kBits = 4, kBlock = 256, kGroup = 32, kBytes = 144;
  static constexpr bool kOffsets = true;
  static void unpack(const std::byte* from, const BlockOut& out) {
    unpack_k_scales(from, out);
    for (int pair = 0; pair < 4; ++pair) {
      for (int i = 0; i < 32; i += 8) {
        const auto word = load_unaligned<uint64_t>(from + 16 + 32 * pair + i);
        uint8_t* to = out.codes + 64 * pair + i;
        store8(to, word & (0x0f * kEach));
        store8(to + 32, (word >> 4) & (0x0f * kEach));
      }
    }
  }
};

struct Q5_K { // head, 32 bytes whose bit g is the fifth bit of group g, nibbles
  static constexpr int kBits = 5, kBlock = 256, kGroup = 32, kBytes = 176;
  static constexpr bool kOffsets = true;
  static void unpack(const std::byte* from, const BlockOut& out) {
    unpack_k_scales(from, out);
    for (int i = 0; i < 32; i += 8) {
      const auto fifth = load_unaligned<uint64_t>(from + 16 + i);
      for (int pair = 0; pair < 4; ++pair) {
        const auto word = load_unaligned<uint64_t>(from + 48 + 32 * pair + i);
        uint8_t* to = out.codes + 64 * pair + i;
        store8(
            to, (word & (0x0f * kEach)) | ((fifth >> (2 * pair)) & kEach) << 4);
        store8(
            to + 32,
            ((word >> 4) & (0x0f * kEach)) |
                ((fifth >> (2 * pair + 1)) & kEach) << 4);
      }
    }
  }
};

/// 128 bytes of low nibbles, 64 of high bit pairs, 16 signed scales, f16 d. Per
/// half of 128 weights: 64 bytes of nibbles (two quarters low, two high) and 32
/// of pairs (one pair a quarter).
struct Q6_K {
  static constexpr int kBits = 6, kBlock = 256, kGroup = 16, kBytes = 210;
  static constexpr bool kOffsets = false;
  static void unpack(const std::byte* from, const BlockOut& out) {
    const float d = load_f16(from + 208);
    for (int j = 0; j < 16; ++j) {
      out.scales[j] =
          d * static_cast<float>(load_unaligned<int8_t>(from + 192 + j));
    }
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 32; i += 8) {
        const auto first = load_unaligned<uint64_t>(from + 64 * half + i);
        const auto second = load_unaligned<uint64_t>(from + 64 * half + 32 + i);
        const auto pairs = load_unaligned<uint64_t>(from + 128 + 32 * half + i);
        uint8_t* to = out.codes + 128 * half + i;
        const uint64_t nibbles = 0x0f * kEach, top = 0x30 * kEach;
        store8(to, (first & nibbles) | ((pairs << 4) & top));
        store8(to + 32, (second & nibbles) | ((pairs << 2) & top));
        store8(to + 64, ((first >> 4) & nibbles) | (pairs & top));
        store8(to + 96, ((second >> 4) & nibbles) | ((pairs >> 2) & top));
      }
    }
  }
};

/// An exponent e (E8M0), 16 bytes of nibbles (E2M1) of values 0, 0.5, 1, 1.5,
/// 2, 3, 4, 6 and the same below zero, times 2^(e - 127). Twice a value is a
/// whole number: codes of 5 bits at half the scale.
struct MXFP4 {
  static constexpr int kBits = 5, kBlock = 32, kGroup = 32, kBytes = 17;
  static constexpr bool kOffsets = false;
  static void unpack(const std::byte* from, const BlockOut& out) {
    constexpr uint8_t kTwice[16] = {
        16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};
    out.scales[0] = std::ldexp(1.0f, static_cast<int>(from[0]) - 128);
    for (int i = 0; i < 16; ++i) {
      const auto both = static_cast<uint8_t>(from[1 + i]);
      out.codes[i] = kTwice[both & 15];
      out.codes[16 + i] = kTwice[both >> 4];
    }
  }
};

} // namespace holdfast::gguf
