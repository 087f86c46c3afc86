// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Codes and digits as attention's integer products read them. A word of a line
// gives two codes of an element pair at a time, one to each byte: a shift
// brings them down, and a permutation looks both up. It reads six bits of an
// index, and the table repeats itself over those beyond the code. Include it in
// a kernel's .cpp file alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/intrinsics.h"

namespace holdfast::cpu {
namespace {

inline void put_row(int8_t* tile, int row, __m512i x) {
  _mm512_store_si512(tile + row * 64, x);
}

/// mask ? a : b, bit by bit.
inline __m512i mix(int mask, __m512i a, __m512i b) {
  return _mm512_ternarylogic_epi32(
      _mm512_set1_epi16(static_cast<int16_t>(mask)), a, b, 0xca);
}

/// The levels of a code table, for codes of up to kBits in both bytes of each
/// word.
template <int kBits>
class Levels {
 public:
#if defined(__AVX512VBMI__)
  explicit Levels(const int8_t* levels) : table_(_mm512_loadu_si512(levels)) {}
  __m512i operator()(__m512i codes) const {
    return _mm512_permutexvar_epi8(codes, table_);
  }
#else
  explicit Levels(const int8_t* levels)
      : table_(_mm512_cvtepi8_epi16(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(levels)))) {}
  __m512i operator()(__m512i codes) const {
    if constexpr (kBits == 6) { // affine: the code less 32
      return _mm512_sub_epi8(
          _mm512_and_si512(codes, _mm512_set1_epi8(63)), _mm512_set1_epi8(32));
    }
    const __m512i low = _mm512_permutexvar_epi16(codes, table_);
    const __m512i high =
        _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 8), table_);
    return mix(0xff, low, _mm512_slli_epi16(high, 8));
  }
#endif

 private:
  __m512i table_;
};

inline void expand_2(const std::byte* from, const Levels<2>& look, int8_t* to) {
  for (int i = 0; i < 2; ++i) {
    const __m512i line = _mm512_loadu_si512(from + 64 * i);
    for (int j = 0; j < 4; ++j) {
      put_row(to, 4 * i + j, look(_mm512_srli_epi16(line, 2 * j)));
    }
  }
}

inline void expand_4(const std::byte* from, const Levels<4>& look, int8_t* to) {
  for (int i = 0; i < 4; ++i) {
    const __m512i line = _mm512_loadu_si512(from + 64 * i);
    put_row(to, 2 * i, look(line));
    put_row(to, 2 * i + 1, look(_mm512_srli_epi16(line, 4)));
  }
}

inline void expand_8(const std::byte* from, int8_t* to) {
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  for (int i = 0; i < 8; ++i) {
    const __m512i line = _mm512_loadu_si512(from + 64 * i);
    put_row(to, i, _mm512_xor_si512(line, sign));
  }
}

/// 3, 5 and 6 bits: codes lie across bytes; rows 2 i and 2 i + 1 are brought
/// together.
template <int kBits>
struct Straddling {
  static constexpr int kWhole = 16 / kBits;
  static constexpr int kLeft = 16 - kWhole * kBits;
  __m512i line[kBits];

  explicit Straddling(const std::byte* from) {
    for (int i = 0; i < kBits; ++i) {
      line[i] = _mm512_loadu_si512(from + 64 * i);
    }
  }
  /// Bits [at, at + kBits) of each word hold the row's codes; others anything.
  template <int kAt, int kRow>
  __m512i row() const {
    if constexpr (kRow < kWhole * kBits) {
      constexpr int kShift = kRow % kWhole * kBits;
      return shift<kShift, kAt>(line[kRow / kWhole]);
    } else {
      constexpr int kFirst = (kRow - kWhole * kBits) * kBits;
      return rest<kFirst, kAt, 0>(_mm512_setzero_si512());
    }
  }

 private:
  template <int kFrom, int kTo>
  static __m512i shift(__m512i x) {
    if constexpr (kFrom > kTo) {
      return _mm512_srli_epi16(x, kFrom - kTo);
    } else if constexpr (kFrom < kTo) {
      return _mm512_slli_epi16(x, kTo - kFrom);
    } else {
      return x;
    }
  }
  /// Bits kBit.. of a code among those left over, one run of a line at a time.
  template <int kFirst, int kAt, int kBit>
  __m512i rest(__m512i so_far) const {
    if constexpr (kBit == kBits) {
      return so_far;
    } else {
      constexpr int kIndex = kFirst + kBit;
      constexpr int kRun = kLeft - kIndex % kLeft < kBits - kBit
          ? kLeft - kIndex % kLeft
          : kBits - kBit;
      constexpr int kMask = ((1 << kRun) - 1) << (kAt + kBit);
      const __m512i moved = shift<kWhole * kBits + kIndex % kLeft, kAt + kBit>(
          line[kIndex / kLeft]);
      return rest<kFirst, kAt, kBit + kRun>(mix(kMask, moved, so_far));
    }
  }
};

template <int kBits, int kPair = 0>
inline void expand_straddling(
    const Straddling<kBits>& lines,
    const Levels<kBits>& look,
    int8_t* to) {
  if constexpr (kPair < 8) {
    const __m512i low = lines.template row<0, 2 * kPair>();
    const __m512i high = lines.template row<8, 2 * kPair + 1>();
    put_row(to, kPair, look(mix(0xff, low, high)));
    expand_straddling<kBits, kPair + 1>(lines, look, to);
  }
}

/// `count` tiles of codes to half tiles [8][16][4] of what they stand for,
/// `stride` bytes apart.
inline void expand_tiles_avx512(
    const CodedPlanes& codes,
    const std::byte* from,
    int64_t count,
    int8_t* to,
    int64_t stride) {
  const auto each = [&](auto expand) {
    for (int64_t i = 0; i < count; ++i) {
      expand(from + i * 64 * codes.bits, to + i * stride);
    }
  };
  const auto straddling = [&]<int kBits>() {
    const Levels<kBits> look(codes.levels);
    each([&](const std::byte* f, int8_t* t) {
      expand_straddling<kBits>(Straddling<kBits>(f), look, t);
    });
  };
  switch (codes.bits) {
    case 2: {
      const Levels<2> look(codes.levels);
      return each([&](const std::byte* f, int8_t* t) { expand_2(f, look, t); });
    }
    case 3:
      return straddling.template operator()<3>();
    case 4: {
      const Levels<4> look(codes.levels);
      return each([&](const std::byte* f, int8_t* t) { expand_4(f, look, t); });
    }
    case 5:
      return straddling.template operator()<5>();
    case 6:
      return straddling.template operator()<6>();
    default:
      return each([](const std::byte* f, int8_t* t) { expand_8(f, t); });
  }
}

/// Four vectors of integers in [-128, 127] to bytes, in the order of the codes'
/// tiles.
inline void put_digits(const CodedPlanes& codes, const __m512i* x, int8_t* to) {
  const __m512i bytes = _mm512_packs_epi16(
      _mm512_packs_epi32(x[0], x[1]), _mm512_packs_epi32(x[2], x[3]));
#if defined(__AVX512VBMI__)
  _mm512_storeu_si512(
      to,
      _mm512_permutexvar_epi8(_mm512_loadu_si512(codes.packed_order), bytes));
#else
  alignas(64) int8_t packed[64];
  _mm512_store_si512(packed, bytes);
  for (int i = 0; i < 64; ++i) {
    to[i] = packed[codes.packed_order[i]];
  }
#endif
}

/// 64 numbers times `factor`, up to 16256 then, rounded and written as two
/// digits each: 128 * high + low, in the order of the codes' tiles.
inline void split_digits_avx512(
    const CodedPlanes& codes,
    const float* x,
    float factor,
    int8_t* high,
    int8_t* low) {
  const __m512 by = _mm512_set1_ps(factor);
  __m512i h[4], l[4];
  for (int i = 0; i < 4; ++i) {
    const __m512i n =
        _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + 16 * i), by));
    h[i] = _mm512_srai_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(64)), 7);
    l[i] = _mm512_sub_epi32(n, _mm512_slli_epi32(h[i], 7));
  }
  put_digits(codes, h, high);
  put_digits(codes, l, low);
}

} // namespace
} // namespace holdfast::cpu
