// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The two loops of tile products. Both add steps of 32 k to a sum in the order
// of k, so a row's bits are the same in either, whatever its neighbours.
// Arch: Tiles, V, Expand<bits, offsets>, prefetch. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/linear_rows-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

/// Tiles that lie ready in the packed weight. Blocks of many rows copy them all
/// the same: where they lie, 4 KiB apart, they compete for the same sets of L1.
class Bf16Source {
 public:
  static constexpr bool kDirect = true;

  Bf16Source(const WeightLayout& layout, const uint8_t* panel)
      : panel_(panel), unit_bytes_(layout.unit_bytes) {}

  const uint16_t* tile(int64_t step, int t) const {
    return reinterpret_cast<const uint16_t*>(
        panel_ + step * unit_bytes_ + t * 1024);
  }
  template <class Arch>
  void prefetch(int64_t step, int t) const {
    Arch::template prefetch<16>(
        reinterpret_cast<const uint8_t*>(tile(step, t)));
  }
  template <class Arch>
  void expand(int64_t step, int t, uint16_t* out) const {
    std::memcpy(out, tile(step, t), 2 * kTileValues);
  }

 private:
  const uint8_t* panel_;
  int64_t unit_bytes_;
};

/// Tiles of codes.
template <int kBits, bool kOffsets>
class CodeSource {
 public:
  static constexpr bool kDirect = false;

  CodeSource(const WeightLayout& layout, const uint8_t* panel)
      : units_(panel + layout.header_bytes),
        unit_bytes_(layout.unit_bytes),
        log_steps_(__builtin_ctzll(static_cast<uint64_t>(layout.unit_steps))),
        second_row_(layout.scale_rows == 2 ? 128 : 0) {}

  const uint16_t* tile(int64_t, int) const {
    return nullptr;
  }
  template <class Arch>
  void prefetch(int64_t step, int t) const {
    Arch::template prefetch<kBits>(codes(step, t));
  }
  template <class Arch>
  [[gnu::always_inline]] void expand(int64_t step, int t, uint16_t* out) const {
    const uint8_t* unit = units_ + (step >> log_steps_) * unit_bytes_;
    const uint8_t* codes = this->codes(step, t);
    const uint8_t* scales =
        unit + (int64_t{kPanelTiles * 64 * kBits} << log_steps_) + 32 * t;
    const uint8_t* offsets = scales + 128 + second_row_;
    using Expand = typename Arch::template Expand<kBits, kOffsets>;
    if constexpr (!Expand::kFetches) {
      Arch::template prefetch<kBits>(codes + kFetchAhead);
    }
    if (t == 0) {
      Arch::template prefetch<kOffsets ? 4 : 2>(scales + kFetchAhead);
    }
    Expand::run(
        codes,
        {.scales = {scales, scales + second_row_},
         .offsets = {offsets, offsets + second_row_}},
        out);
  }

 private:
  const uint8_t* codes(int64_t step, int t) const {
    const int64_t in_unit = step & ((int64_t{1} << log_steps_) - 1);
    return units_ + (step >> log_steps_) * unit_bytes_ +
        (in_unit * kPanelTiles + t) * 64 * kBits;
  }

  const uint8_t* units_;
  int64_t unit_bytes_;
  int log_steps_;
  int64_t second_row_;
};

/// M <= 16: a panel's four C tiles stay in registers while its stream passes;
/// codes are expanded kLead tiles ahead of their products, so that the stores
/// have reached the cache when a tile is loaded.
template <class Arch, class Source>
void stream(const ProductArgs& p) {
  constexpr int kLead = 3;
  constexpr int kRing = 4; // tiles: one page, so that no two share low bits
  static_assert(kRing * kTileValues <= kSlabValues);
  const int64_t steps = p.shape.steps;
  const int64_t a_tile = p.shape.tile_rows * kStepK;
  typename Arch::Tiles tiles(static_cast<int>(p.shape.tile_rows));
  for (int64_t panel = 0; panel < p.panels; ++panel) {
    const Source source(p.layout, p.weight + panel * p.layout.panel_bytes);
    uint16_t* const ring = p.slab;
    const auto expand = [&](int64_t step, int t)
        __attribute__((always_inline)) {
      if (!Source::kDirect && step < steps) {
        source.template expand<Arch>(
            step, t, ring + (step * 4 + t) % kRing * kTileValues);
      }
    };
    const auto b = [&](int64_t step, int t) __attribute__((always_inline)) {
      return Source::kDirect ? source.tile(step, t)
                             : ring + (step * 4 + t) % kRing * kTileValues;
    };
    zero_tiles<4>(tiles);
    for (int i = 0; i < kLead; ++i) {
      expand(i / 4, i % 4);
    }
    for (int64_t s = 0; s < steps; ++s) {
      if (Source::kDirect) {
        Arch::template prefetch<64>(
            reinterpret_cast<const uint8_t*>(b(s, 0)) + 4096);
      }
      tiles.template load_a<0>(p.a + s * a_tile);
      expand(s + kLead / 4, kLead % 4);
      tiles.template load_b<0>(b(s, 0));
      tiles.template dot<0, 0, 0>();
      expand(s + (kLead + 1) / 4, (kLead + 1) % 4);
      tiles.template load_b<1>(b(s, 1));
      tiles.template dot<1, 0, 1>();
      expand(s + (kLead + 2) / 4, (kLead + 2) % 4);
      tiles.template load_b<0>(b(s, 2));
      tiles.template dot<2, 0, 0>();
      expand(s + (kLead + 3) / 4, (kLead + 3) % 4);
      tiles.template load_b<1>(b(s, 3));
      tiles.template dot<3, 0, 1>();
    }
    float* sums = p.sums + panel * kPanelTiles * 256;
    tiles.template store_c<0>(sums);
    tiles.template store_c<1>(sums + 256);
    tiles.template store_c<2>(sums + 512);
    tiles.template store_c<3>(sums + 768);
  }
}

/// A slab: two tile columns (32 columns) of one chunk of K.
template <class Arch, class Source>
class Slabs {
 public:
  explicit Slabs(const ProductArgs& p)
      : p_(p),
        chunks_(
            (p.shape.steps + p.shape.chunk_steps - 1) / p.shape.chunk_steps),
        count_(chunks_ * p.panels * 2) {}

  int64_t count() const {
    return count_;
  }
  int64_t chunk(int64_t slab) const {
    return slab / (p_.panels * 2);
  }
  /// The slab's first tile column among the panels' 4 each.
  int64_t column(int64_t slab) const {
    return slab % (p_.panels * 2) * 2;
  }
  int64_t steps(int64_t slab) const {
    return chunk_length(p_.shape, chunk(slab));
  }
  /// Expands tiles [from, to) of the slab, of 2 steps() in all, and fetches
  /// the next slab's.
  void expand(int64_t slab, int64_t from, int64_t to) const {
    const Source source = source_of(slab);
    const int64_t next = slab + 1 < count_ ? slab + 1 : slab;
    const Source next_source = source_of(next);
    for (int64_t i = from; i < to; ++i) {
      next_source.template prefetch<Arch>(step(next, i), tile(next, i));
      source.template expand<Arch>(
          step(slab, i), tile(slab, i), tiles(slab) + i * kTileValues);
    }
  }
  /// Tiles used where they lie: the first, and the distance to the next step's.
  const uint16_t* direct(int64_t slab, int64_t* stride) const {
    *stride = p_.layout.unit_bytes / 2;
    return source_of(slab).tile(step(slab, 0), tile(slab, 0));
  }
  /// The slab's tiles, the two columns of a step side by side.
  uint16_t* tiles(int64_t slab) const {
    return p_.slab + (slab & 1) * kSlabValues / 2;
  }

 private:
  int64_t step(int64_t slab, int64_t i) const {
    return chunk(slab) * p_.shape.chunk_steps + i / 2;
  }
  int tile(int64_t slab, int64_t i) const {
    return static_cast<int>(column(slab) % kPanelTiles + i % 2);
  }
  Source source_of(int64_t slab) const {
    return Source(
        p_.layout,
        p_.weight + column(slab) / kPanelTiles * p_.layout.panel_bytes);
  }
  const ProductArgs& p_;
  int64_t chunks_;
  int64_t count_;
};

/// Two row tiles by two columns over one chunk; c[i]: sums of (row tile i / 2,
/// column i % 2).
template <class Tiles, int kRowTiles>
inline void multiply(
    Tiles& tiles,
    const uint16_t* a,
    const uint16_t* b,
    int64_t b_stride,
    int64_t steps,
    float* const* c,
    bool first) {
  if (first) {
    zero_tiles<4>(tiles);
  } else {
    tiles.template load_c<0>(c[0]);
    tiles.template load_c<1>(c[1]);
    if constexpr (kRowTiles == 2) {
      tiles.template load_c<2>(c[2]);
      tiles.template load_c<3>(c[3]);
    }
  }
  const uint16_t* a1 = a + steps * kTileValues;
  for (int64_t s = 0; s < steps; ++s, a += kTileValues, a1 += kTileValues) {
    tiles.template load_b<0>(b);
    tiles.template load_a<0>(a);
    tiles.template load_b<1>(b + kTileValues);
    tiles.template dot<0, 0, 0>();
    tiles.template dot<1, 0, 1>();
    if constexpr (kRowTiles == 2) {
      tiles.template load_a<1>(a1);
      tiles.template dot<2, 1, 0>();
      tiles.template dot<3, 1, 1>();
    }
    b += b_stride;
  }
  tiles.template store_c<0>(c[0]);
  tiles.template store_c<1>(c[1]);
  if constexpr (kRowTiles == 2) {
    tiles.template store_c<2>(c[2]);
    tiles.template store_c<3>(c[3]);
  }
}

/// M > 16: slab by slab, all row tiles against each; the next slab's codes are
/// expanded between the products of this one.
template <class Arch, class Source>
void block(const ProductArgs& p) {
  typename Arch::Tiles tiles(16);
  const Slabs<Arch, Source> slabs(p);
  const int64_t pairs = (p.tiles + 1) / 2;
  constexpr int64_t kCopyTiles = 12; // row tiles that pay for a copy
  const bool direct = Source::kDirect && p.tiles < kCopyTiles;
  slabs.expand(0, 0, direct ? 0 : 2 * slabs.steps(0));
  for (int64_t slab = 0; slab < slabs.count(); ++slab) {
    const int64_t steps = slabs.steps(slab);
    const bool more = !direct && slab + 1 < slabs.count();
    const int64_t todo = more ? 2 * slabs.steps(slab + 1) : 0;
    int64_t stride = 2 * kTileValues;
    const uint16_t* b =
        direct ? slabs.direct(slab, &stride) : slabs.tiles(slab);
    const uint16_t* a = p.a + activation_chunk(p.shape, slabs.chunk(slab));
    const bool first = slabs.chunk(slab) == 0;
    float* c0 = p.sums + slabs.column(slab) * p.tiles * 256;
    float* c1 = c0 + p.tiles * 256;
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const int64_t m = 2 * pair;
      float* const c[4] = {
          c0 + m * 256, c1 + m * 256, c0 + (m + 1) * 256, c1 + (m + 1) * 256};
      const uint16_t* rows = a + (p.first_tile + m) * steps * kTileValues;
      if (m + 1 < p.tiles) {
        multiply<typename Arch::Tiles, 2>(
            tiles, rows, b, stride, steps, c, first);
      } else {
        multiply<typename Arch::Tiles, 1>(
            tiles, rows, b, stride, steps, c, first);
      }
      slabs.expand(slab + 1, todo * pair / pairs, todo * (pair + 1) / pairs);
    }
  }
}

/// f32 weights: one chain of fused multiply-adds a sum, in the order of k.
template <class V, int kRows>
inline void f32_rows(
    const float* x,
    int64_t k,
    const float* w,
    int64_t column_stride,
    float* sums) {
  V c[kRows][kPanelTiles];
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < kPanelTiles; ++t) {
      c[r][t] = V::set(0.0f);
    }
  }
  for (int64_t i = 0; i < k; ++i, w += kPanelColumns) {
    V b[kPanelTiles];
    for (int t = 0; t < kPanelTiles; ++t) {
      b[t] = V::load(w + 16 * t);
    }
    for (int r = 0; r < kRows; ++r) {
      const V a = V::set(x[r * k + i]);
      for (int t = 0; t < kPanelTiles; ++t) {
        c[r][t] = V::fma(a, b[t], c[r][t]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int t = 0; t < kPanelTiles; ++t) {
      c[r][t].store(sums + t * column_stride + 16 * r);
    }
  }
}

template <class Arch>
void f32_products(const ProductArgs& p) {
  using V = typename Arch::V;
  const int64_t k = p.shape.k;
  const int64_t first = p.first_tile * 16;
  const int64_t left = p.shape.rows - first;
  const int64_t rows = left < p.tiles * 16 ? left : p.tiles * 16;
  for (int64_t panel = 0; panel < p.panels; ++panel) {
    const auto* w =
        reinterpret_cast<const float*>(p.weight + panel * p.layout.panel_bytes);
    float* sums = p.sums + panel * kPanelTiles * p.tiles * 256;
    const float* x = p.f32 + first * k;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      f32_rows<V, 4>(x + r * k, k, w, p.tiles * 256, sums + r * 16);
    }
    for (; r < rows; ++r) {
      f32_rows<V, 1>(x + r * k, k, w, p.tiles * 256, sums + r * 16);
    }
  }
}

template <class Arch, class Source>
constexpr ProductKernels products() {
  return {.stream = stream<Arch, Source>, .block = block<Arch, Source>};
}

template <class Arch>
constexpr LinearKernels make_kernels() {
  LinearKernels kernels{
      .prepare = prepare<Arch>,
      .finish = finish<Arch>,
      .post = post<Arch>,
      .f32 = {.stream = f32_products<Arch>, .block = f32_products<Arch>},
      .bf16 = products<Arch, Bf16Source>(),
      .codes = {},
      .exact = Arch::kExact};
  kernels.codes[2][0] = products<Arch, CodeSource<2, false>>();
  kernels.codes[2][1] = products<Arch, CodeSource<2, true>>();
  kernels.codes[3][0] = products<Arch, CodeSource<3, false>>();
  kernels.codes[3][1] = products<Arch, CodeSource<3, true>>();
  kernels.codes[4][0] = products<Arch, CodeSource<4, false>>();
  kernels.codes[4][1] = products<Arch, CodeSource<4, true>>();
  kernels.codes[5][0] = products<Arch, CodeSource<5, false>>();
  kernels.codes[5][1] = products<Arch, CodeSource<5, true>>();
  kernels.codes[6][0] = products<Arch, CodeSource<6, false>>();
  kernels.codes[6][1] = products<Arch, CodeSource<6, true>>();
  kernels.codes[7][0] = products<Arch, CodeSource<7, false>>();
  kernels.codes[7][1] = products<Arch, CodeSource<7, true>>();
  kernels.codes[8][0] = products<Arch, CodeSource<8, false>>();
  kernels.codes[8][1] = products<Arch, CodeSource<8, true>>();
  return kernels;
}

} // namespace
} // namespace holdfast::cpu
