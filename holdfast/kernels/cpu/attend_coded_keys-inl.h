// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Scores against keys that are codes. What a code stands for is exact in bf16,
// so codes become bf16 tiles and go through the tile product, from zero for
// each group of elements that share a scale; then, group by group,
//   score += scale * (product + shift * sum(q)) [+ bias * sum(q)]
// with scale and bias times the scores' own scale, and sum(q) over the group's
// packed elements. Up to 16 rows, tiles are made one step ahead of the
// products, in the first cache, or in registers (Tiles::kReadsCodes); more rows
// read a split that was expanded once for all of them. All add the same in the
// same order. Include it in a kernel's .cpp file alone, after its Isa.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_keys-inl.h"

namespace holdfast::cpu {
namespace {

/// Tiles of 6 and 8 bits hold 2^-112 of the numbers: queries and weights are
/// multiplied by the first, products by the second. Exact.
constexpr float kWideBefore = 0x1p96f;
constexpr float kWideAfter = 0x1p16f;

/// 16 scales (or biases) of a group from token t on.
template <class Isa>
inline typename Isa::V
load_scales(const CodedPlanes& codes, const std::byte* plane, int64_t index) {
  if (codes.scale_form == PlaneForm::kF32) {
    return Isa::V::load(reinterpret_cast<const float*>(plane) + index);
  }
  const uint16_t* halves = reinterpret_cast<const uint16_t*>(plane) + index;
  return codes.scale_form == PlaneForm::kF16 ? Isa::load_f16(halves)
                                             : Isa::load_bf16(halves);
}

template <class Isa>
struct CodedKeys {
  using Tiles = typename Isa::Tiles;
  using V = typename Isa::V;

  static void pack_query(
      const float* q,
      int64_t dim,
      const CodedPlanes& codes,
      void* packed,
      float* sums) {
    auto* to = static_cast<uint16_t*>(packed);
    const V before = V::set(codes.wide() ? kWideBefore : 1.0f);
    const V back = V::set(codes.wide() ? 1.0f / kWideBefore : 1.0f);
    for (int64_t d = 0; d < dim;) {
      V sum = V::set(0.0f);
      const int64_t end = d + codes.group < dim ? d + codes.group : dim;
      for (; d < end; d += 16) {
        sum = sum + Isa::narrow_bf16(V::load(q + d) * before, to + d) * back;
      }
      *sums++ = sum.sum();
    }
    if (dim % 32 != 0) {
      std::memset(to + dim, 0, 32);
    }
  }

  /// Expands the split's keys where more than one row tile reads them.
  static void prepare(const SplitJob& job) {
    if (job.rows <= 16) {
      return;
    }
    const int64_t tiles = job.key_width / 8;
    for (int64_t b = 0; b < job.block_count; ++b) {
      Isa::expand(
          job.keys->codes,
          job.blocks[b].keys,
          tiles,
          job.scratch.key_tiles + b * tiles * 512,
          *job.fetch);
    }
  }

  static void scores(Tiles& tiles, const ScorePass& pass) {
    if (pass.job->rows <= 16) {
      one_row_tile<true>(tiles, pass);
    } else if (pass.rows <= 16) {
      one_row_tile<false>(tiles, pass);
    } else {
      for (int64_t step = 0; step < 2; ++step) {
        if ((pass.steps >> step & 1) != 0) {
          two_row_tiles(tiles, step, pass);
        }
      }
    }
  }

  /// The last group's part, up to 16 rows.
  static void shape(const ScorePass& pass) {
    if (pass.rows <= 16) {
      const int64_t last =
          pass.job->key_width / pass.job->keys->codes.group - 1;
      combine<0, 4>(pass, last, products_of(pass, last));
    }
  }

 private:
  /// Where a group's products are, of 16 rows: they are combined while the next
  /// group's are made, the last group's while the next block's are.
  static float* products_of(const ScorePass& pass, int64_t g) {
    const SplitJob& job = *pass.job;
    const bool last = (g + 1) * job.keys->codes.group == job.key_width;
    return job.scratch.products + (last ? 2 + pass.turn % 2 : g % 2) * 1024;
  }
  static const uint16_t* expanded(const ScorePass& pass) {
    return pass.job->scratch.key_tiles + pass.block * pass.job->key_width * 64;
  }

  /// Adds group g's part to the scores of rows by token groups [kBegin, kEnd),
  /// scaled; the last group's makes them shaped ones.
  template <int kBegin, int kEnd>
  static void combine(const ScorePass& pass, int64_t g, const float* from) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.keys->codes;
    const int64_t groups = job.key_width / codes.group;
    const bool last = g + 1 == groups;
    const bool biased = codes.biases != 0;
    const float* sums = job.q_sums + pass.row * groups + g;
    const V after = V::set(codes.wide() ? kWideAfter : 1.0f);
    V scale[4], bias[4];
    for (int i = kBegin; i < kEnd; ++i) {
      const int64_t at = g * 64 + i * 16;
      scale[i] = load_scales<Isa>(codes, pass.keys + codes.scales, at) *
          V::set(job.scale);
      bias[i] = biased ? load_scales<Isa>(codes, pass.keys + codes.biases, at) *
              V::set(job.scale)
                       : V::set(0.0f);
    }
    for (int64_t r = 0; r < pass.rows; ++r) {
      const float* products = from + r * 64;
      float* scores = pass.scores + r * kScoreRow;
      const V sum = V::set(sums[r * groups]);
      const V shift = sum * V::set(codes.shift);
      V largest = V::load(job.scratch.largest + 16 * r);
      for (int i = kBegin; i < kEnd; ++i) {
        const V x = V::fma(V::load(products + 16 * i), after, shift);
        V score = g == 0 ? scale[i] * x
                         : V::fma(scale[i], x, V::load(scores + 16 * i));
        if (biased) {
          score = V::fma(bias[i], sum, score);
        }
        if (!last) {
          score.store(scores + 16 * i);
          continue;
        }
        shape_score<Isa>(
            job,
            score,
            static_cast<uint16_t>(pass.visible[r] >> (16 * i)),
            scores + 16 * i,
            largest);
      }
      largest.store(job.scratch.largest + 16 * r);
    }
  }

  /// Up to 16 rows by the block's 64 keys, group by group; tiles are expanded
  /// one step ahead of their products.
  template <bool kExpand>
  static void one_row_tile(Tiles& tiles, const ScorePass& pass) {
    const int64_t in_group = pass.job->keys->codes.group / 32;
    const int64_t groups = pass.job->key_width / 32 / in_group;
    if constexpr (kExpand && !Tiles::kReadsCodes) {
      expand_step(pass, 0);
    }
    for (int64_t g = 0; g < groups; ++g) {
      if constexpr (kExpand && Tiles::kReadsCodes) {
        code_products(tiles, pass, g);
      } else {
        group_products<kExpand>(tiles, pass, g);
      }
      if (g > 0) {
        combine<0, 4>(pass, g - 1, products_of(pass, g - 1));
      }
    }
  }

  /// The four tiles of 32 elements in the ring.
  static uint16_t* ring_step(const ScorePass& pass, int64_t k) {
    return pass.job->scratch.ring + k % 2 * 2048;
  }
  static void expand_step(const ScorePass& pass, int64_t k) {
    const CodedPlanes& codes = pass.job->keys->codes;
    Isa::expand(
        codes,
        pass.keys + k * 256 * codes.bits,
        4,
        ring_step(pass, k),
        *pass.job->fetch);
  }

  template <bool kExpand>
  static void group_products(Tiles& tiles, const ScorePass& pass, int64_t g) {
    const SplitJob& job = *pass.job;
    const int64_t width = job.key_width;
    const auto* q = static_cast<const uint16_t*>(job.q) + pass.row * width;
    const int64_t in_group = job.keys->codes.group / 32;
    const typename Tiles::Run run;
    zero_tiles<4>(tiles);
    for (int64_t k = g * in_group; k < (g + 1) * in_group; ++k) {
      const uint16_t* b =
          kExpand ? ring_step(pass, k) : expanded(pass) + k * 2048;
      if (kExpand && k + 1 < width / 32) {
        expand_step(pass, k + 1);
      }
      tiles.template load_a<0>(q + k * 32, width * 2);
      tiles.template load_b<0>(b);
      tiles.template dot<0, 0, 0>(run);
      fetch_step(*job.fetch);
      tiles.template load_b<1>(b + 512);
      tiles.template dot<1, 0, 1>(run);
      fetch_step(*job.fetch);
      tiles.template load_b<0>(b + 1024);
      tiles.template dot<2, 0, 0>(run);
      fetch_step(*job.fetch);
      tiles.template load_b<1>(b + 1536);
      tiles.template dot<3, 0, 1>(run);
      fetch_step(*job.fetch);
    }
    store_group(tiles, products_of(pass, g));
  }

  /// The same by tiles that take codes as they lie.
  static void code_products(Tiles& tiles, const ScorePass& pass, int64_t g) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.keys->codes;
    const int64_t width = job.key_width;
    const auto* q = static_cast<const uint16_t*>(job.q) + pass.row * width;
    const int64_t in_group = codes.group / 32;
    const typename Tiles::Run run;
    zero_tiles<4>(tiles);
    for (int64_t k = g * in_group; k < (g + 1) * in_group; ++k) {
      tiles.template load_a<0>(q + k * 32, width * 2);
      each_tile<4>([&]<int kN>() {
        tiles.template dot_codes<kN, 0>(
            run, codes, pass.keys + (4 * k + kN) * 64 * codes.bits);
        fetch_step(*job.fetch);
        fetch_step(*job.fetch);
      });
    }
    store_group(tiles, products_of(pass, g));
  }

  static void store_group(Tiles& tiles, float* products) {
    tiles.template store_c<0>(products, 256);
    tiles.template store_c<1>(products + 16, 256);
    tiles.template store_c<2>(products + 32, 256);
    tiles.template store_c<3>(products + 48, 256);
  }

  /// 32 rows by the 32 keys of a step.
  static void two_row_tiles(Tiles& tiles, int64_t step, const ScorePass& pass) {
    const int64_t in_group = pass.job->keys->codes.group / 32;
    const int64_t groups = pass.job->key_width / 32 / in_group;
    const float* products = pass.job->scratch.products;
    for (int64_t g = 0; g < groups; ++g) {
      two_group_products(tiles, step, pass, g);
      step == 0 ? combine<0, 2>(pass, g, products)
                : combine<2, 4>(pass, g, products);
    }
  }

  static void two_group_products(
      Tiles& tiles,
      int64_t step,
      const ScorePass& pass,
      int64_t g) {
    const SplitJob& job = *pass.job;
    const int64_t width = job.key_width;
    const auto* q = static_cast<const uint16_t*>(job.q) + pass.row * width;
    const uint16_t* keys = expanded(pass) + step * 1024;
    const int64_t in_group = job.keys->codes.group / 32;
    const typename Tiles::Run run;
    zero_tiles<4>(tiles);
    for (int64_t k = g * in_group; k < (g + 1) * in_group; ++k) {
      tiles.template load_a<0>(q + k * 32, width * 2);
      tiles.template load_b<0>(keys + k * 2048);
      tiles.template dot<0, 0, 0>(run);
      tiles.template load_b<1>(keys + k * 2048 + 512);
      tiles.template dot<1, 0, 1>(run);
      fetch_step(*job.fetch);
      tiles.template load_a<1>(q + k * 32 + 16 * width, width * 2);
      tiles.template dot<2, 1, 0>(run);
      tiles.template dot<3, 1, 1>(run);
      fetch_step(*job.fetch);
    }
    float* products = job.scratch.products + 32 * step;
    tiles.template store_c<0>(products, 256);
    tiles.template store_c<1>(products + 16, 256);
    tiles.template store_c<2>(products + 16 * 64, 256);
    tiles.template store_c<3>(products + 16 * 64 + 16, 256);
  }
};

} // namespace
} // namespace holdfast::cpu
