// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sums of values under the weights of a block, from zero, folded into the
// unit's result, by value format. Include it in a kernel's .cpp file alone,
// after its Isa.
//
// Order per output, whatever else is in the call: bf16 values as tile-inl.h
// says, in steps of 32 tokens; f32 and f16 values one chain of fused
// multiply-adds in order of the tokens. Tokens that no row of the call sees may
// be left out: their weight is zero, and adding it to a chain that began at +0
// changes no bit. Slots that hold no token are never read as values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_keys-inl.h"

namespace holdfast::cpu {
namespace {

/// How a row's result takes in a block: out = out * old + product * fresh.
enum RowState : uint8_t {
  kSkip, // the row sees nothing of the block
  kFirst, // the row saw nothing before: out = product
  kFold,
};

struct ValuePass {
  const SplitJob* job;
  int64_t row;
  int64_t rows; // at most kGroupRows
  uint64_t visible; // keys that any of the rows sees
  const std::byte* values;
  const std::byte* next; // a plane to fetch meanwhile, or null
  int64_t written;
  const RowState* state; // [rows]
  const float* old_weight; // [rows]
  const float* fresh_weight; // [rows]
};

template <class V, int kVectors>
inline void
fold_row(const ValuePass& pass, int64_t r, const V* product, int64_t d) {
  const int64_t dim = pass.job->value_dim;
  float* out = pass.job->result.out + (pass.row + r) * dim + d;
  if (pass.state[r] == kFirst) {
    for (int n = 0; n < kVectors; ++n) {
      product[n].store(out + 16 * n);
    }
  } else if (pass.state[r] == kFold) {
    const V old = V::set(pass.old_weight[r]);
    const V fresh = V::set(pass.fresh_weight[r]);
    for (int n = 0; n < kVectors; ++n) {
      V::fma(product[n], fresh, V::load(out + 16 * n) * old)
          .store(out + 16 * n);
    }
  }
}

template <class Isa>
struct TiledValues {
  using Tiles = typename Isa::Tiles;
  using V = typename Isa::V;
  static constexpr bool kUsesTiles = true;

  /// Makes the step of 32 tokens that ends among unwritten slots safe to read:
  /// a copy in the scratch in which those are zero.
  static void prepare(const SplitJob& job, const BlockView& block) {
    const int64_t rest = block.written % 32;
    if (rest == 0) {
      return;
    }
    const int64_t pairs = job.value_dim / 16 * 16;
    const auto* from = reinterpret_cast<const uint16_t*>(block.values) +
        block.written / 32 * pairs * 32;
    uint16_t* to = job.scratch.values;
    for (int64_t line = 0; line < pairs; ++line) {
      const int64_t token = line % 16 * 2;
      for (int64_t i = 0; i < 32; ++i) {
        to[line * 32 + i] = token + i % 2 < rest ? from[line * 32 + i] : 0;
      }
    }
  }

  static void values(Tiles& tiles, const ValuePass& pass) {
    const Steps steps = steps_of(pass);
    const int64_t tile_count = pass.job->value_dim / 16;
    int64_t n = 0;
    if (pass.rows <= 16) {
      for (; n + 4 <= tile_count; n += 4) {
        product<1, 4>(tiles, pass, steps, n);
      }
      for (; n < tile_count; ++n) {
        product<1, 1>(tiles, pass, steps, n);
      }
      return;
    }
    for (; n + 2 <= tile_count; n += 2) {
      product<2, 2>(tiles, pass, steps, n);
    }
    for (; n < tile_count; ++n) {
      product<2, 1>(tiles, pass, steps, n);
    }
  }

 private:
  struct Steps {
    int64_t count = 0;
    const uint16_t* weights[2];
    const uint16_t* values[2];
    const std::byte* next[2];
  };

  static Steps steps_of(const ValuePass& pass) {
    Steps steps;
    const int64_t size = pass.job->value_dim * 32;
    for (int64_t s = 0; s < 2; ++s) {
      if ((pass.visible >> (32 * s) & 0xffffffffu) == 0) {
        continue;
      }
      const bool whole = (s + 1) * 32 <= pass.written;
      steps.weights[steps.count] = pass.job->scratch.weights + 32 * s;
      steps.values[steps.count] = whole
          ? reinterpret_cast<const uint16_t*>(pass.values) + s * size
          : pass.job->scratch.values;
      steps.next[steps.count] = pass.next ? pass.next + s * size * 2 : nullptr;
      ++steps.count;
    }
    return steps;
  }

  /// kRows row tiles by kColumns column tiles from tile n on.
  template <int kRows, int kColumns>
  static void
  product(Tiles& tiles, const ValuePass& pass, const Steps& steps, int64_t n) {
    constexpr int64_t kWidth = 16 * kColumns;
    each_tile<kRows * kColumns>([&]<int kC>() { tiles.template zero<kC>(); });
    for (int64_t s = 0; s < steps.count; ++s) {
      tiles.template load_a<0>(steps.weights[s], 128);
      if constexpr (kRows == 2) {
        tiles.template load_a<1>(steps.weights[s] + 16 * 64, 128);
      }
      each_tile<kColumns>([&]<int kN>() {
        tiles.template load_b<kN % 2>(steps.values[s] + (n + kN) * 512);
        tiles.template dot<kN, 0, kN % 2>();
        if constexpr (kRows == 2) {
          tiles.template dot<kColumns + kN, 1, kN % 2>();
        }
        fetch_tile(steps.next[s], (n + kN) * 1024);
      });
    }
    float* to = pass.job->scratch.product;
    each_tile<kRows * kColumns>([&]<int kC>() {
      tiles.template store_c<kC>(
          to + kC / kColumns * 16 * kWidth + kC % kColumns * 16, kWidth * 4);
    });
    for (int64_t r = 0; r < pass.rows; ++r) {
      V v[kColumns];
      for (int i = 0; i < kColumns; ++i) {
        v[i] = V::load(to + r * kWidth + 16 * i);
      }
      fold_row<V, kColumns>(pass, r, v, n * 16);
    }
  }

  template <int kCount, class F>
  static void each_tile(F f) {
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
};

template <class Isa, class Elements>
struct RowValues {
  using Tiles = typename Isa::Tiles;
  using Type = typename Elements::Type;
  using V = typename Isa::V;
  static constexpr bool kUsesTiles = false;

  static void prepare(const SplitJob&, const BlockView&) {}

  static void values(Tiles&, const ValuePass& pass) {
    const int64_t dim = pass.job->value_dim;
    fetch(pass, dim);
    for (int64_t d = 0; d < dim;) {
      const bool wide = d + 64 <= dim;
      int64_t r = 0;
      for (; r + 4 <= pass.rows; r += 4) {
        wide ? product<4, 4>(pass, r, d) : product<4, 1>(pass, r, d);
      }
      for (; r < pass.rows; ++r) {
        wide ? product<1, 4>(pass, r, d) : product<1, 1>(pass, r, d);
      }
      d += wide ? 64 : 16;
    }
  }

 private:
  static void fetch(const ValuePass& pass, int64_t dim) {
    if (pass.next != nullptr) {
      const int64_t bytes = 64 * dim * int64_t{sizeof(Type)};
      for (int64_t line = 0; line < bytes; line += 64) {
        __builtin_prefetch(pass.next + line, 0, 2);
      }
    }
  }

  template <int kRows, int kVectors>
  static void product(const ValuePass& pass, int64_t r, int64_t d) {
    const int64_t dim = pass.job->value_dim;
    const auto* values = reinterpret_cast<const Type*>(pass.values) + d;
    const float* p = pass.job->scratch.scores + r * 64;
    V sum[kRows][kVectors];
    for (auto& row : sum) {
      for (V& v : row) {
        v = V::set(0.0f);
      }
    }
    const int64_t begin = __builtin_ctzll(pass.visible);
    const int64_t end = 64 - __builtin_clzll(pass.visible);
    for (int64_t j = begin; j < end; ++j) {
      V value[kVectors];
      for (int n = 0; n < kVectors; ++n) {
        value[n] = Elements::template load<Isa>(values + j * dim + 16 * n);
      }
      for (int i = 0; i < kRows; ++i) {
        const V weight = V::set(p[i * 64 + j]);
        for (int n = 0; n < kVectors; ++n) {
          sum[i][n] = V::fma(weight, value[n], sum[i][n]);
        }
      }
    }
    for (int i = 0; i < kRows; ++i) {
      fold_row<V, kVectors>(pass, r + i, sum[i], d);
    }
  }
};

} // namespace
} // namespace holdfast::cpu
