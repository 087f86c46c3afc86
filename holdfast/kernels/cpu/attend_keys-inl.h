// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Scores of up to kGroupRows queries against the 64 keys of a block, by key
// format. Include it in a kernel's .cpp file alone, after its Isa.
//
// Order per score, whatever else is in the call: bf16 keys as tile-inl.h says,
// in steps of 32 elements; f32 and f16 keys one chain of fused multiply-adds in
// order of the elements. Scores of slots that hold no token are of any value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_kernels.h"

namespace holdfast::cpu {
namespace {

/// What a score pass reads and writes: q [rows, width] in the packed form,
/// scores [rows, 64].
struct ScorePass {
  const SplitJob* job;
  int64_t row; // the first, a multiple of kGroupRows
  int64_t rows; // at most kGroupRows
  uint64_t visible; // keys that any of the rows sees
  const std::byte* keys;
  const std::byte* next; // a plane to fetch meanwhile, or null
};

/// Fetches the 1 KiB at `offset` of a plane, or nothing of a null plane.
inline void fetch_tile(const std::byte* plane, int64_t offset) {
  if (plane != nullptr) {
    for (int64_t line = 0; line < 1024; line += 64) {
      __builtin_prefetch(plane + offset + line, 0, 2);
    }
  }
}

template <class Isa>
struct TiledKeys {
  using Query = uint16_t;
  using Tiles = typename Isa::Tiles;
  static constexpr bool kUsesTiles = true;

  static void pack_query(const float* q, int64_t dim, void* packed) {
    auto* to = static_cast<uint16_t*>(packed);
    for (int64_t d = 0; d < dim; d += 16) {
      Isa::narrow_bf16(Isa::V::load(q + d), to + d);
    }
    if (dim % 32 != 0) {
      std::memset(to + dim, 0, 32);
    }
  }

  static void scores(Tiles& tiles, const ScorePass& pass) {
    const int64_t width = pass.job->key_width;
    const auto* q =
        static_cast<const uint16_t*>(pass.job->q) + pass.row * width;
    const auto* keys = reinterpret_cast<const uint16_t*>(pass.keys);
    float* s = pass.job->scratch.scores;
    if (pass.rows <= 16) {
      one_row_tile(tiles, q, keys, pass.next, width, s);
      return;
    }
    // Two row tiles by two key tiles; a half that no row sees is left out.
    const int64_t group = 16 * width; // elements of 16 keys
    for (int half = 0; half < 2; ++half) {
      if ((pass.visible >> (32 * half) & 0xffffffffu) != 0) {
        const int64_t at = half * 2 * group;
        const std::byte* next =
            pass.next ? pass.next + at * int64_t{sizeof(uint16_t)} : nullptr;
        two_row_tiles(tiles, q, keys + at, next, width, s + 32 * half);
      }
    }
  }

 private:
  static void one_row_tile(
      Tiles& tiles,
      const uint16_t* q,
      const uint16_t* keys,
      const std::byte* next,
      int64_t width,
      float* s) {
    const int64_t group = 16 * width;
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
    for (int64_t k = 0; k < width; k += 32) {
      const uint16_t* b = keys + k * 16;
      tiles.template load_a<0>(q + k, width * 2);
      tiles.template load_b<0>(b);
      tiles.template dot<0, 0, 0>();
      tiles.template load_b<1>(b + group);
      tiles.template dot<1, 0, 1>();
      tiles.template load_b<0>(b + 2 * group);
      tiles.template dot<2, 0, 0>();
      tiles.template load_b<1>(b + 3 * group);
      tiles.template dot<3, 0, 1>();
      for (int64_t i = 0; i < 4; ++i) {
        fetch_tile(next, (k * 4 + i * 32) * 32);
      }
    }
    tiles.template store_c<0>(s, 256);
    tiles.template store_c<1>(s + 16, 256);
    tiles.template store_c<2>(s + 32, 256);
    tiles.template store_c<3>(s + 48, 256);
  }

  static void two_row_tiles(
      Tiles& tiles,
      const uint16_t* q,
      const uint16_t* keys,
      const std::byte* next,
      int64_t width,
      float* s) {
    const int64_t group = 16 * width;
    tiles.template zero<0>();
    tiles.template zero<1>();
    tiles.template zero<2>();
    tiles.template zero<3>();
    for (int64_t k = 0; k < width; k += 32) {
      tiles.template load_a<0>(q + k, width * 2);
      tiles.template load_b<0>(keys + k * 16);
      tiles.template dot<0, 0, 0>();
      tiles.template load_b<1>(keys + k * 16 + group);
      tiles.template dot<1, 0, 1>();
      tiles.template load_a<1>(q + k + group, width * 2);
      tiles.template dot<2, 1, 0>();
      tiles.template dot<3, 1, 1>();
      fetch_tile(next, k * 64);
      fetch_tile(next, k * 64 + 1024);
    }
    tiles.template store_c<0>(s, 256);
    tiles.template store_c<1>(s + 16, 256);
    tiles.template store_c<2>(s + 16 * 64, 256);
    tiles.template store_c<3>(s + 16 * 64 + 16, 256);
  }
};

/// Element types of the row-major orders.
struct F32Elements {
  using Type = float;
  template <class Isa>
  static typename Isa::V load(const float* from) {
    return Isa::V::load(from);
  }
};
struct F16Elements {
  using Type = uint16_t;
  template <class Isa>
  static typename Isa::V load(const uint16_t* from) {
    return Isa::load_f16(from);
  }
};

template <class Isa, class Elements>
struct RowKeys {
  using Query = float;
  using Tiles = typename Isa::Tiles;
  using Type = typename Elements::Type;
  using V = typename Isa::V;
  static constexpr bool kUsesTiles = false;

  static void pack_query(const float* q, int64_t dim, void* packed) {
    std::memcpy(packed, q, static_cast<size_t>(dim) * sizeof(float));
  }

  static void scores(Tiles&, const ScorePass& pass) {
    const int64_t dim = pass.job->key_width;
    const auto* q = static_cast<const float*>(pass.job->q) + pass.row * dim;
    const auto* keys = reinterpret_cast<const Type*>(pass.keys);
    float* s = pass.job->scratch.scores;
    const std::byte* next = pass.next;
    int64_t r = 0;
    for (; r + 4 <= pass.rows; r += 4) {
      rows_of<4>(q + r * dim, keys, next, dim, s + r * 64);
      next = nullptr;
    }
    for (; r < pass.rows; ++r) {
      rows_of<1>(q + r * dim, keys, next, dim, s + r * 64);
      next = nullptr;
    }
  }

 private:
  template <int kRows>
  static void rows_of(
      const float* q,
      const Type* keys,
      const std::byte* next,
      int64_t dim,
      float* s) {
    V sum[kRows][4];
    for (auto& row : sum) {
      for (V& v : row) {
        v = V::set(0.0f);
      }
    }
    for (int64_t d = 0; d < dim; ++d) {
      V key[4];
      for (int64_t g = 0; g < 4; ++g) {
        key[g] = Elements::template load<Isa>(keys + (g * dim + d) * 16);
      }
      for (int r = 0; r < kRows; ++r) {
        const V x = V::set(q[r * dim + d]);
        for (int g = 0; g < 4; ++g) {
          sum[r][g] = V::fma(x, key[g], sum[r][g]);
        }
      }
      if (d % 8 == 0 && next != nullptr) {
        constexpr int64_t kBytes = 64 * sizeof(Type); // of one d, all keys
        for (int64_t line = 0; line < 8 * kBytes; line += 64) {
          __builtin_prefetch(next + d * kBytes + line, 0, 2);
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int g = 0; g < 4; ++g) {
        sum[r][g].store(s + r * 64 + g * 16);
      }
    }
  }
};

} // namespace
} // namespace holdfast::cpu
