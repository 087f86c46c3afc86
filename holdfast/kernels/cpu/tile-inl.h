// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tile product all matrix work is made of, in four forms of equal bits:
// C[rows x 16, f32] += A[rows x 32, bf16] * B[16 pairs of k][16 columns][2].
//
// Per output: two f32 chains of fused multiply-adds from zero, over the even
// and the odd k, whose sum is added to C; round to nearest even; subnormal
// inputs and results are zero. This is what TDPBF16PS computes.
//
// Registers: C 0..3, A 0..1, B 0..1. Operands of load_a and load_b must stay
// unchanged until the dot products that use them: some forms read them late.
// A Run is the processor's mode that products compute in; dot() sets it up for
// itself, which costs as much as a product of few rows, or takes that of its
// caller, who then computes nothing else while the Run lives.
// Threads: an object belongs to the thread that made it, one at a time.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__AVX512F__)
#include "holdfast/kernels/cpu/flush_subnormals-inl.h"
#include "holdfast/kernels/cpu/intrinsics.h"
#endif

namespace holdfast::cpu {
namespace {

/// bf16 values of one A or B tile; f32 values of one C tile.
inline constexpr int kTileRows = 16;
inline constexpr int kTileK = 32;
inline constexpr int kTileColumns = 16;
inline constexpr int kTileValues = 512;

/// The Run of forms that need no mode.
struct AnyMode {};

#if defined(__AMX_BF16__) || defined(__AMXBF16__) // gcc, clang

// Assembly of our own, not the compiler's intrinsics: those take no template
// arguments and do not tell the optimiser what memory they read.

/// Rows and their bytes of each tile register.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t zero[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void load() const {
    asm volatile("ldtilecfg %0" : : "m"(*this));
  }
};

/// What an instruction may touch, told to the optimiser: from here on.
#if defined(__clang__)
using TileMemory = char[1 << 20]; // clang takes no array of unknown length
#else
using TileMemory = char[];
#endif

template <int kTile>
inline void tile_zero() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
/// Rows `stride` bytes apart.
template <int kTile>
inline void tile_load(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(from),
                 "r"(stride),
                 "i"(kTile),
                 "m"(*reinterpret_cast<const TileMemory*>(from)));
}
template <int kTile>
inline void tile_store(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c3, (%1,%2,1)"
               : "+m"(*reinterpret_cast<TileMemory*>(to))
               : "r"(to), "r"(stride), "i"(kTile));
}

class AmxTiles {
 public:
  using Run = AnyMode;
  static constexpr bool kReadsCodes = false;

  /// A and C tiles have `rows` rows, 1 to 16. Needs best_kernel_path() to have
  /// asked for AMX.
  explicit AmxTiles(int rows) {
    TileConfig config;
    for (int t = 0; t < 8; ++t) {
      config.row_bytes[t] = 64;
      config.rows[t] = static_cast<uint8_t>(t < 6 ? rows : 16);
    }
    config.load();
  }
  ~AmxTiles() {
    asm volatile("tilerelease");
  }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int kC>
  void zero() {
    tile_zero<kC>();
  }
  /// a: rows of 32 bf16, `stride` bytes apart.
  template <int kA>
  void load_a(const uint16_t* a, int64_t stride = 64) {
    tile_load<4 + kA>(a, stride);
  }
  template <int kB>
  void load_b(const uint16_t* b) {
    tile_load<6 + kB>(b, 64);
  }
  /// c: rows of 16 f32, `stride` bytes apart.
  template <int kC>
  void load_c(const float* c, int64_t stride = 64) {
    tile_load<kC>(c, stride);
  }
  template <int kC>
  void store_c(float* c, int64_t stride = 64) {
    tile_store<kC>(c, stride);
  }
  template <int kC, int kA, int kB>
  void dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(kC), "i"(4 + kA), "i"(6 + kB));
  }
  template <int kC, int kA, int kB>
  void dot(const Run&) {
    dot<kC, kA, kB>();
  }
};

#endif

/// Calls f.operator()<i>() for i below kCount <= 4.
template <int kCount, class F>
inline void each_tile(F f) {
  f.template operator()<0>();
  if constexpr (kCount > 1) {
    f.template operator()<1>();
  }
  if constexpr (kCount > 2) {
    f.template operator()<2>();
  }
  if constexpr (kCount > 3) {
    f.template operator()<3>();
  }
}

/// The first kCount sums of products.
template <int kCount, class Tiles>
inline void zero_tiles(Tiles& tiles) {
  each_tile<kCount>([&]<int kC>() { tiles.template zero<kC>(); });
}

/// C in memory and A, B by address: what the forms without tile registers
/// share.
class MemoryTiles {
 public:
  /// Whether B may be a tile of codes: dot_codes().
  static constexpr bool kReadsCodes = false;

  explicit MemoryTiles(int rows) : rows_(rows) {}
  MemoryTiles(const MemoryTiles&) = delete;
  MemoryTiles& operator=(const MemoryTiles&) = delete;

  template <int kC>
  void zero() {
    std::memset(c_[kC], 0, sizeof c_[kC][0] * static_cast<size_t>(rows_));
  }
  template <int kA>
  void load_a(const uint16_t* a, int64_t stride = 64) {
    a_[kA] = a;
    stride_[kA] = stride / 2;
  }
  template <int kB>
  void load_b(const uint16_t* b) {
    b_[kB] = b;
  }
  template <int kC>
  void load_c(const float* c, int64_t stride = 64) {
    for (int r = 0; r < rows_; ++r) {
      std::memcpy(c_[kC][r], c + r * (stride / 4), 64);
    }
  }
  template <int kC>
  void store_c(float* c, int64_t stride = 64) {
    for (int r = 0; r < rows_; ++r) {
      std::memcpy(c + r * (stride / 4), c_[kC][r], 64);
    }
  }

 protected:
  alignas(64) float c_[4][kTileRows][kTileColumns];
  const uint16_t* a_[2] = {};
  int64_t stride_[2] = {}; // in values
  const uint16_t* b_[2] = {};
  int rows_;
};

#if defined(__AVX512F__)

class Avx512Tiles : public MemoryTiles {
 public:
  using MemoryTiles::MemoryTiles;
  using Run = FlushSubnormals;

  template <int kC, int kA, int kB>
  void dot() {
    const Run run;
    dot<kC, kA, kB>(run);
  }
  template <int kC, int kA, int kB>
  void dot(const Run&) {
    int r = 0;
    for (; r + 4 <= rows_; r += 4) {
      rows_of<4>(c_[kC][r], a_[kA] + r * stride_[kA], stride_[kA], b_[kB]);
    }
    for (; r < rows_; ++r) {
      rows_of<1>(c_[kC][r], a_[kA] + r * stride_[kA], stride_[kA], b_[kB]);
    }
  }

 private:
  template <int kRows>
  static void
  rows_of(float* c, const uint16_t* a, int64_t stride, const uint16_t* b) {
    const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    __m512 even[kRows], odd[kRows];
    for (int r = 0; r < kRows; ++r) {
      even[r] = _mm512_setzero_ps();
      odd[r] = _mm512_setzero_ps();
    }
    for (int p = 0; p < kTileK / 2; ++p) {
      const __m512i pair = _mm512_loadu_si512(b + 32 * p);
      const __m512 b0 = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
      const __m512 b1 = _mm512_castsi512_ps(_mm512_and_si512(pair, high));
      for (int r = 0; r < kRows; ++r) {
        int32_t both;
        std::memcpy(&both, a + r * stride + 2 * p, 4);
        const __m512i x = _mm512_set1_epi32(both);
        const __m512 a0 = _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
        const __m512 a1 = _mm512_castsi512_ps(_mm512_and_si512(x, high));
        even[r] = _mm512_fmadd_ps(a0, b0, even[r]);
        odd[r] = _mm512_fmadd_ps(a1, b1, odd[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      float* out = c + kTileColumns * r;
      const __m512 sum = _mm512_add_ps(even[r], odd[r]);
      _mm512_store_ps(out, _mm512_add_ps(_mm512_load_ps(out), sum));
    }
  }
};

#endif

class PlainTiles : public MemoryTiles {
 public:
  using MemoryTiles::MemoryTiles;
  using Run = AnyMode;

  template <int kC, int kA, int kB>
  void dot() {
    for (int r = 0; r < rows_; ++r) {
      const uint16_t* a = a_[kA] + r * stride_[kA];
      for (int n = 0; n < kTileColumns; ++n) {
        float even = 0.0f;
        float odd = 0.0f;
        for (int p = 0; p < kTileK / 2; ++p) {
          const uint16_t* b = b_[kB] + 2 * (kTileColumns * p + n);
          even = fused(value(a[2 * p]), value(b[0]), even);
          odd = fused(value(a[2 * p + 1]), value(b[1]), odd);
        }
        float& c = c_[kC][r][n];
        c = flush(flush(c) + flush(even + odd));
      }
    }
  }
  template <int kC, int kA, int kB>
  void dot(const Run&) {
    dot<kC, kA, kB>();
  }

 private:
  static constexpr float kSmallest = 0x1p-126f;

  static float flush(float x) {
    return std::fabs(x) < kSmallest ? std::copysign(0.0f, x) : x;
  }
  static float value(uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float x;
    std::memcpy(&x, &wide, 4);
    return flush(x);
  }
  /// Whether a result is too small is decided after rounding to 24 bits, so the
  /// one result that gradual underflow may have rounded up is rounded again.
  static float fused(float a, float b, float c) {
    const float y = std::fma(a, b, c);
    if (std::fabs(y) == kSmallest) {
      const double exact = static_cast<double>(a) * b + c;
      return std::fabs(exact) < 0x1p-126 - 0x1p-151 ? std::copysign(0.0f, y)
                                                    : y;
    }
    return flush(y);
  }
};

} // namespace
} // namespace holdfast::cpu
