// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Exact products with int8: a row's number is 256 times a high digit plus a low
// one, both int8, so that codes are multiplied where they lie. Up to two
// rows by VNNI, more by AMX tiles: A [8 rows of high digits, 8 of
// low][32], B [8 quads of k][16 columns][4]. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/linear_exact_avx512-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

/// Digits of a row: k in a quad goes 0, 2, 1, 3, as in the packed codes.
inline void store_digits(const int32_t* q, int64_t row, int8_t* numbers) {
  int8_t* high = numbers + row * kStepK;
  int8_t* low = high + kExactRows * kStepK;
  for (int quad = 0; quad < kStepK; quad += 4) {
    for (int i = 0; i < 4; ++i) {
      const int32_t number = q[quad + (i % 2) * 2 + i / 2];
      const int32_t digit = (number + 128) >> 8;
      high[quad + i] = static_cast<int8_t>(digit);
      low[quad + i] = static_cast<int8_t>(number - 256 * digit);
    }
  }
}

inline __m512i exact_quad(const int8_t* digits) {
  int32_t quad;
  std::memcpy(&quad, digits, sizeof quad);
  return _mm512_set1_epi32(quad);
}

template <int kLines>
[[gnu::always_inline]] inline void exact_prefetch(const uint8_t* at) {
#pragma GCC unroll 8
  for (int i = 0; i < kLines; ++i) {
    _mm_prefetch(
        reinterpret_cast<const char*>(at + kFetchAhead + 64 * i), _MM_HINT_T1);
  }
}

/// kRows rows against one tile of one step.
template <bool kOffsets, int kRows>
[[gnu::always_inline]] inline void exact_tile(
    const ExactProductArgs& p,
    int64_t step,
    const uint8_t* codes,
    const uint8_t* scales,
    __m512* sums) {
  const int8_t* digits = p.a.numbers + step * kExactStepBytes;
  __m512i high[kRows], low[kRows];
  for (int r = 0; r < kRows; ++r) {
    high[r] = low[r] = _mm512_setzero_si512();
  }
#pragma GCC unroll 8
  for (int w = 0; w < 8; ++w) {
    const __m512i code = _mm512_loadu_si512(codes + 64 * w);
    exact_prefetch<1>(codes + 64 * w);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const int8_t* quad = digits + r * kStepK + 4 * w;
      high[r] = _mm512_dpbusd_epi32(high[r], code, exact_quad(quad));
      low[r] = _mm512_dpbusd_epi32(
          low[r], code, exact_quad(quad + kExactRows * kStepK));
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const __m512i whole =
        _mm512_add_epi32(_mm512_slli_epi32(high[r], 8), low[r]);
    sums[r] = exact_add<kOffsets>(
        sums[r],
        whole,
        p.a,
        step * kExactRows + r,
        ExactScales<kOffsets>(scales));
  }
}

template <bool kOffsets, int kRows>
void exact_vector(const ExactProductArgs& p) {
  __m512 sums[kPanelTiles][kRows];
  for (auto& tile : sums) {
    for (auto& sum : tile) {
      sum = _mm512_setzero_ps();
    }
  }
  for (int64_t step = 0; step < p.steps; ++step) {
    const ExactUnit unit = exact_unit(p, step);
    exact_prefetch<kOffsets ? 4 : 2>(unit.scales);
#pragma GCC unroll 4
    for (int t = 0; t < kPanelTiles; ++t) {
      exact_tile<kOffsets, kRows>(
          p, step, unit.codes + 512 * t, unit.scales + 32 * t, sums[t]);
    }
  }
  alignas(64) float out[kRows * kPanelColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < kPanelTiles; ++t) {
      _mm512_store_ps(out + r * kPanelColumns + 16 * t, sums[t][r]);
    }
  }
  exact_finish<Avx512Output>(p, out);
}

/// Tile registers 0..3: C [16][16] int32; 4: A; 5..7: B, in turn.
class ExactTiles {
 public:
  ExactTiles() {
    TileConfig{
        .row_bytes = {64, 64, 64, 64, kStepK, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 8, 8, 8}}
        .load();
  }
  ~ExactTiles() {
    asm volatile("tilerelease");
  }
  ExactTiles(const ExactTiles&) = delete;
  ExactTiles& operator=(const ExactTiles&) = delete;

  void load_a(const int8_t* digits) {
    tile_load<4>(digits, kStepK);
  }
  /// C = A B, with B one tile of codes.
  template <int kC>
  void multiply(const uint8_t* codes) {
    constexpr int kB = 5 + kC % 3;
    tile_load<kB>(codes, 64);
    tile_zero<kC>();
    asm volatile("tdpbsud %%tmm%c1, %%tmm4, %%tmm%c0" : : "i"(kC), "i"(kB));
  }
  template <int kC>
  void store(int32_t* c) {
    tile_store<kC>(c, 64);
  }
};

/// Four C tiles of one step into the sums [rows][64].
template <bool kOffsets>
inline void exact_fold(
    const ExactProductArgs& p,
    int64_t step,
    const int32_t* c,
    float* sums) {
  const ExactUnit unit = exact_unit(p, step);
#pragma GCC unroll 4
  for (int t = 0; t < kPanelTiles; ++t) {
    const ExactScales<kOffsets> w(unit.scales + 32 * t);
    for (int64_t r = p.rows; r < kExactRows; ++r) {
      exact_prefetch<1>(unit.codes + 512 * t + 64 * r);
    }
    for (int64_t r = 0; r < p.rows; ++r) {
      exact_prefetch<1>(unit.codes + 512 * t + 64 * r);
      const int32_t* high = c + 256 * t + 16 * r;
      const __m512i whole = _mm512_add_epi32(
          _mm512_slli_epi32(_mm512_load_si512(high), 8),
          _mm512_load_si512(high + 16 * kExactRows));
      float* sum = sums + r * kPanelColumns + 16 * t;
      _mm512_store_ps(
          sum,
          exact_add<kOffsets>(
              _mm512_load_ps(sum), whole, p.a, step * kExactRows + r, w));
    }
  }
}

/// The sums of a step are folded while the next step's products run, and before
/// those are stored: loads that follow stores to the same place in another page
/// would wait for them.
template <bool kOffsets>
void exact_tiles(const ExactProductArgs& p) {
  alignas(64) float sums[kExactRows * kPanelColumns] = {};
  alignas(64) int32_t c[kPanelTiles * 256];
  ExactTiles tiles;
  for (int64_t step = 0; step < p.steps; ++step) {
    const ExactUnit unit = exact_unit(p, step);
    tiles.load_a(p.a.numbers + step * kExactStepBytes);
    tiles.multiply<0>(unit.codes);
    tiles.multiply<1>(unit.codes + 512);
    tiles.multiply<2>(unit.codes + 1024);
    tiles.multiply<3>(unit.codes + 1536);
    exact_prefetch<kOffsets ? 4 : 2>(unit.scales);
    if (step > 0) {
      exact_fold<kOffsets>(p, step - 1, c, sums);
    }
    tiles.store<0>(c);
    tiles.store<1>(c + 256);
    tiles.store<2>(c + 512);
    tiles.store<3>(c + 768);
  }
  exact_fold<kOffsets>(p, p.steps - 1, c, sums);
  exact_finish<Avx512Output>(p, sums);
}

template <bool kOffsets>
void exact_product_amx(const ExactProductArgs& p) {
  switch (p.rows) {
    case 1:
      return exact_vector<kOffsets, 1>(p);
    case 2:
      return exact_vector<kOffsets, 2>(p);
    default:
      return exact_tiles<kOffsets>(p);
  }
}

} // namespace
} // namespace holdfast::cpu
