// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tile product of tile-inl.h in vectors of 256 bits. Include it in a
// kernel's .cpp file alone.

#pragma once

#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/flush_subnormals-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"
#include "holdfast/kernels/cpu/vec256-inl.h"

namespace holdfast::cpu {
namespace {

/// The first, or the second, bf16 of each pair.
inline Vec256<float> even_bf16(const Vec256<uint32_t>& pairs) {
  return cast<float>(shift_left<16>(pairs));
}
inline Vec256<float> odd_bf16(const Vec256<uint32_t>& pairs) {
  return cast<float>(pairs & all<uint32_t>(0xffff0000));
}

class Vec256Tiles : public MemoryTiles {
 public:
  using MemoryTiles::MemoryTiles;

  using Run = FlushSubnormals;

  template <int kC, int kA, int kB>
  void dot() {
    const Run run;
    dot<kC, kA, kB>(run);
  }
  template <int kC, int kA, int kB, class Mode>
  void dot(const Mode& run) {
    if constexpr (Mode::kAfterRounding) {
      multiply(kC, kA, kB);
    } else {
      // What the processor flushes and the definition rounds up to the least
      // normal number is rare, and seen afterwards.
      alignas(64) float before[kTileRows][kTileColumns];
      store_c<kC>(before[0]);
      multiply(kC, kA, kB);
      if (run.flushed_any()) {
        run.pause();
        multiply_plainly(kC, kA, kB, before[0]);
        run.go_on();
      }
    }
  }

 private:
  /// Calls of their own, so that nothing of them moves out of a Run or into it.
  [[gnu::noinline]] void multiply(int to, int from_a, int from_b) {
    const uint16_t* a = a_[from_a];
    const int64_t stride = stride_[from_a];
    int r = 0;
    for (; r + 2 <= rows_; r += 2) {
      rows_of<2>(c_[to][r], a + r * stride, stride, b_[from_b]);
    }
    if (r < rows_) {
      rows_of<1>(c_[to][r], a + r * stride, stride, b_[from_b]);
    }
  }
  [[gnu::noinline]] void
  multiply_plainly(int to, int from_a, int from_b, const float* before) {
    PlainTiles plain(rows_);
    plain.load_c<0>(before);
    plain.load_a<0>(a_[from_a], 2 * stride_[from_a]);
    plain.load_b<0>(b_[from_b]);
    plain.dot<0, 0, 0>();
    plain.store_c<0>(c_[to][0]);
  }

  /// 8 vectors of sums for two rows of 16 columns, 4 of B, 2 of A.
  template <int kRows>
  [[gnu::always_inline]] static inline void
  rows_of(float* c, const uint16_t* a, int64_t stride, const uint16_t* b) {
    Vec256<float> even[kRows][2], odd[kRows][2];
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        even[r][half] = all(0.0f);
        odd[r][half] = all(0.0f);
      }
    }
    for (int p = 0; p < kTileK / 2; ++p) {
      Vec256<float> b0[2], b1[2];
      for (int half = 0; half < 2; ++half) {
        const auto pairs = cast<uint32_t>(load(b + 32 * p + 16 * half));
        b0[half] = even_bf16(pairs);
        b1[half] = odd_bf16(pairs);
      }
      for (int r = 0; r < kRows; ++r) {
        uint32_t both;
        std::memcpy(&both, a + r * stride + 2 * p, 4);
        const auto a0 = even_bf16(all(both));
        const auto a1 = odd_bf16(all(both));
        for (int half = 0; half < 2; ++half) {
          even[r][half] = fused(a0, b0[half], even[r][half]);
          odd[r][half] = fused(a1, b1[half], odd[r][half]);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        float* out = c + kTileColumns * r + 8 * half;
        store(load(out) + (even[r][half] + odd[r][half]), out);
      }
    }
  }
};

} // namespace
} // namespace holdfast::cpu
