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

#include "holdfast/kernels/cpu/attend_fetch-inl.h"
#include "holdfast/kernels/cpu/attend_kernels.h"
#include "holdfast/kernels/cpu/math-inl.h"
#include "holdfast/kernels/cpu/tile-inl.h"

namespace holdfast::cpu {
namespace {

/// One block for one group of rows: q [rows, width] in the packed form, scores
/// [kGroupRows, 64].
struct ScorePass {
  const SplitJob* job;
  int64_t row; // the first, a multiple of kGroupRows
  int64_t rows; // at most kGroupRows
  uint32_t steps; // bit i: some row sees some of the block's step i
  int64_t block; // of the split
  int64_t turn; // counts the blocks that are scored
  const std::byte* keys;
  const uint64_t* visible; // [rows]
  float* scores;
};

constexpr float kNothing = -__builtin_inff();

/// Stores a scaled score, capped, -infinity where unseen; it joins `largest`.
template <class Isa>
inline void shape_score(
    const SplitJob& job,
    typename Isa::V x,
    uint16_t seen,
    float* to,
    typename Isa::V& largest) {
  using V = typename Isa::V;
  if (job.softcap > 0.0f) {
    x = tanh(x / V::set(job.softcap)) * V::set(job.softcap);
  }
  if (seen != 0xffff) {
    x = Isa::select(seen, x, V::set(kNothing));
  }
  largest = V::max(x, largest);
  x.store(to);
}

template <class Isa>
struct TiledKeys {
  using Tiles = typename Isa::Tiles;

  static void prepare(const SplitJob&) {}

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
    if (pass.rows <= 16) {
      one_row_tile(tiles, q, keys, pass);
      return;
    }
    for (int64_t step = 0; step < 2; ++step) {
      if ((pass.steps >> step & 1) != 0) {
        two_row_tiles(tiles, q, keys, step, pass);
      }
    }
  }

 private:
  /// 16 rows by the block's 64 keys.
  static void one_row_tile(
      Tiles& tiles,
      const uint16_t* q,
      const uint16_t* keys,
      const ScorePass& pass) {
    const int64_t width = pass.job->key_width;
    const int64_t group = 16 * width; // elements of 16 keys
    const typename Tiles::Run run;
    zero_tiles<4>(tiles);
    for (int64_t k = 0; k < width; k += 32) {
      const uint16_t* b = keys + k * 16;
      tiles.template load_a<0>(q + k, width * 2);
      tiles.template load_b<0>(b);
      tiles.template dot<0, 0, 0>(run);
      fetch_step(*pass.job->fetch);
      tiles.template load_b<1>(b + group);
      tiles.template dot<1, 0, 1>(run);
      fetch_step(*pass.job->fetch);
      tiles.template load_b<0>(b + 2 * group);
      tiles.template dot<2, 0, 0>(run);
      fetch_step(*pass.job->fetch);
      tiles.template load_b<1>(b + 3 * group);
      tiles.template dot<3, 0, 1>(run);
      fetch_step(*pass.job->fetch);
    }
    tiles.template store_c<0>(pass.scores, kScoreRow * 4);
    tiles.template store_c<1>(pass.scores + 16, kScoreRow * 4);
    tiles.template store_c<2>(pass.scores + 32, kScoreRow * 4);
    tiles.template store_c<3>(pass.scores + 48, kScoreRow * 4);
  }

  /// 32 rows by the 32 keys of a step.
  static void two_row_tiles(
      Tiles& tiles,
      const uint16_t* q,
      const uint16_t* keys,
      int64_t step,
      const ScorePass& pass) {
    const int64_t width = pass.job->key_width;
    const int64_t group = 16 * width; // elements of 16 keys, or of 16 rows
    const uint16_t* b = keys + step * 2 * group;
    const typename Tiles::Run run;
    zero_tiles<4>(tiles);
    for (int64_t k = 0; k < width; k += 32) {
      tiles.template load_a<0>(q + k, width * 2);
      tiles.template load_b<0>(b + k * 16);
      tiles.template dot<0, 0, 0>(run);
      tiles.template load_b<1>(b + k * 16 + group);
      tiles.template dot<1, 0, 1>(run);
      fetch_step(*pass.job->fetch);
      tiles.template load_a<1>(q + k + group, width * 2);
      tiles.template dot<2, 1, 0>(run);
      tiles.template dot<3, 1, 1>(run);
      fetch_step(*pass.job->fetch);
    }
    float* s = pass.scores + 32 * step;
    tiles.template store_c<0>(s, kScoreRow * 4);
    tiles.template store_c<1>(s + 16, kScoreRow * 4);
    tiles.template store_c<2>(s + 16 * kScoreRow, kScoreRow * 4);
    tiles.template store_c<3>(s + 16 * kScoreRow + 16, kScoreRow * 4);
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
  using Tiles = typename Isa::Tiles;
  using Type = typename Elements::Type;
  using V = typename Isa::V;

  static void prepare(const SplitJob&) {}

  static void pack_query(const float* q, int64_t dim, void* packed) {
    std::memcpy(packed, q, static_cast<size_t>(dim) * sizeof(float));
  }

  static void scores(Tiles&, const ScorePass& pass) {
    const int64_t dim = pass.job->key_width;
    const auto* q = static_cast<const float*>(pass.job->q) + pass.row * dim;
    const auto* keys = reinterpret_cast<const Type*>(pass.keys);
    for (int64_t i = 0; i < pass.job->key_width; i += 8) {
      fetch_step(*pass.job->fetch);
    }
    int64_t r = 0;
    for (; r + 4 <= pass.rows; r += 4) {
      rows_of<4>(q + r * dim, keys, dim, pass.scores + r * kScoreRow);
    }
    for (; r < pass.rows; ++r) {
      rows_of<1>(q + r * dim, keys, dim, pass.scores + r * kScoreRow);
    }
  }

 private:
  template <int kRows>
  static void rows_of(const float* q, const Type* keys, int64_t dim, float* s) {
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
    }
    for (int r = 0; r < kRows; ++r) {
      for (int g = 0; g < 4; ++g) {
        sum[r][g].store(s + r * kScoreRow + g * 16);
      }
    }
  }
};

} // namespace
} // namespace holdfast::cpu
