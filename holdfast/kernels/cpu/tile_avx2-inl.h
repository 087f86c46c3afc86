// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tile product of tile-inl.h with AVX2 and FMA. Include it in a kernel's
// .cpp file alone.
//
// A row of B holds 16 columns' pairs of k side by side. Unpacked above zeros, 8
// words are 4 columns' pairs as f32, and a broadcast of 8 bytes of A is a row's
// pair: so lanes 2i of a sum are a column's even chain, lanes 2i + 1 its odd
// one, and a horizontal addition ends them. For R rows and 8 columns a pair of
// k costs 1 + R loads, 2 unpackings and 2 R multiply-adds. 6 rows have 12 sums
// on their way, more than the 8 that two multipliers of 4 cycles need, and fill
// 15 of 16 registers.

#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/flush_subnormals-inl.h"
#include "holdfast/kernels/cpu/math_avx2-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

/// Pairs of k of 8 columns as f32, even and odd in turn.
struct Avx2Pairs {
  __m256 low; // columns 0 1 4 5
  __m256 high; // columns 2 3 6 7
};

/// A tile [16 pairs of k][16 columns][2] of bf16, from one of its halves of 8
/// columns on.
struct Bf16Rows {
  const uint16_t* tile;

  Bf16Rows second_half() const {
    return {tile + 16};
  }
  /// Of the half after kHalf others.
  template <int kHalf>
  Avx2Pairs pairs(int p) const {
    const __m256i words = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(tile + 32 * p + 16 * kHalf));
    const __m256i zero = _mm256_setzero_si256();
    return {
        _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, words)),
        _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, words))};
  }
};

/// Sums of kRows rows by 8 kHalves columns.
template <int kRows, int kHalves>
struct Avx2Sums {
  __m256 sum[kHalves][kRows][2];

  Avx2Sums() {
    for (auto& half : sum) {
      for (auto& row : half) {
        row[0] = row[1] = _mm256_setzero_ps();
      }
    }
  }
  /// Adds the products of pair p of k. a: [kRows][32].
  template <int kHalf>
  [[gnu::always_inline]] void add(const float* a, int p, Avx2Pairs b) {
    for (int r = 0; r < kRows; ++r) {
      double pair; // of f32
      std::memcpy(&pair, a + kTileK * r + 2 * p, 8);
      const __m256 x = _mm256_castpd_ps(_mm256_set1_pd(pair));
      sum[kHalf][r][0] = _mm256_fmadd_ps(x, b.low, sum[kHalf][r][0]);
      sum[kHalf][r][1] = _mm256_fmadd_ps(x, b.high, sum[kHalf][r][1]);
    }
  }
  /// c: [kRows][16], from a half on.
  void add_to(float* c) const {
    for (int half = 0; half < kHalves; ++half) {
      for (int r = 0; r < kRows; ++r) {
        float* out = c + kTileColumns * r + 8 * half;
        const __m256 both = _mm256_hadd_ps(sum[half][r][0], sum[half][r][1]);
        _mm256_store_ps(out, _mm256_add_ps(_mm256_load_ps(out), both));
      }
    }
  }
};

class Avx2Tiles : public MemoryTiles {
 public:
  using MemoryTiles::MemoryTiles;
  using Run = FlushSubnormals;

  /// Unlike the other forms, reads A now: as f32, once for all its products.
  template <int kA>
  void load_a(const uint16_t* a, int64_t stride = 64) {
    for (int r = 0; r < rows_; ++r) {
      for (int k = 0; k < kTileK; k += 8) {
        _mm256_store_ps(
            &wide_[kA][r][k], widened_bf16(a + r * (stride / 2) + k));
      }
    }
  }
  template <int kC, int kA, int kB>
  void dot(const Run&) {
    multiply(c_[kC][0], wide_[kA][0], Bf16Rows{b_[kB]}, rows_);
  }
  template <int kC, int kA, int kB>
  void dot() {
    const Run run;
    dot<kC, kA, kB>(run);
  }

 protected:
  /// A call of its own, so that nothing of it moves out of its caller's Run.
  template <class Rows>
  [[gnu::noinline]] static void
  multiply(float* c, const float* a, Rows b, int rows) {
    for (; rows >= 6; rows -= 6, c += 6 * kTileColumns, a += 6 * kTileK) {
      rows_of<6, 1>(c, a, b);
      rows_of<6, 1>(c + 8, a, b.second_half());
    }
    if (rows >= 4) {
      rows_of<4, 1>(c, a, b);
      rows_of<4, 1>(c + 8, a, b.second_half());
      rows -= 4;
      c += 4 * kTileColumns;
      a += 4 * kTileK;
    }
    if (rows >= 2) {
      rows_of<2, 2>(c, a, b);
      c += 2 * kTileColumns;
      a += 2 * kTileK;
    }
    if (rows % 2 != 0) {
      rows_of<1, 2>(c, a, b);
    }
  }

  alignas(64) float wide_[2][kTileRows][kTileK]; // A

 private:
  template <int kRows, int kHalves, class Rows>
  [[gnu::always_inline]] static inline void
  rows_of(float* c, const float* a, Rows b) {
    Avx2Sums<kRows, kHalves> sums;
#pragma GCC unroll 4
    for (int p = 0; p < kTileK / 2; ++p) {
      sums.template add<0>(a, p, b.template pairs<0>(p));
      if constexpr (kHalves == 2) {
        sums.template add<1>(a, p, b.template pairs<1>(p));
      }
    }
    sums.add_to(c);
  }
};

} // namespace
} // namespace holdfast::cpu
