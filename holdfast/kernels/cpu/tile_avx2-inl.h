// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tile product of tile-inl.h with AVX2 and FMA. Include it in a kernel's
// .cpp file alone.

#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/flush_subnormals-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

class Avx2Tiles : public MemoryTiles {
 public:
  using MemoryTiles::MemoryTiles;

  template <int kC, int kA, int kB>
  void dot() {
    const FlushSubnormals flush;
    int r = 0;
    for (; r + 2 <= rows_; r += 2) {
      rows_of<2>(c_[kC][r], a_[kA] + r * stride_[kA], stride_[kA], b_[kB]);
    }
    if (r < rows_) {
      rows_of<1>(c_[kC][r], a_[kA] + r * stride_[kA], stride_[kA], b_[kB]);
    }
  }

 private:
  /// 8 registers of sums for two rows of 16 columns, 4 of B, 2 of A.
  template <int kRows>
  [[gnu::always_inline]] static inline void
  rows_of(float* c, const uint16_t* a, int64_t stride, const uint16_t* b) {
    const __m256i high = _mm256_set1_epi32(static_cast<int>(0xffff0000));
    __m256 even[kRows][2], odd[kRows][2];
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        even[r][half] = _mm256_setzero_ps();
        odd[r][half] = _mm256_setzero_ps();
      }
    }
    for (int p = 0; p < kTileK / 2; ++p) {
      __m256 b0[2], b1[2];
      for (int half = 0; half < 2; ++half) {
        const __m256i pair = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(b + 32 * p + 16 * half));
        b0[half] = _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16));
        b1[half] = _mm256_castsi256_ps(_mm256_and_si256(pair, high));
      }
      for (int r = 0; r < kRows; ++r) {
        int32_t both;
        std::memcpy(&both, a + r * stride + 2 * p, 4);
        const __m256i x = _mm256_set1_epi32(both);
        const __m256 a0 = _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
        const __m256 a1 = _mm256_castsi256_ps(_mm256_and_si256(x, high));
        for (int half = 0; half < 2; ++half) {
          even[r][half] = _mm256_fmadd_ps(a0, b0[half], even[r][half]);
          odd[r][half] = _mm256_fmadd_ps(a1, b1[half], odd[r][half]);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        float* out = c + kTileColumns * r + 8 * half;
        const __m256 sum = _mm256_add_ps(even[r][half], odd[r][half]);
        _mm256_store_ps(out, _mm256_add_ps(_mm256_load_ps(out), sum));
      }
    }
  }
};

} // namespace
} // namespace holdfast::cpu
