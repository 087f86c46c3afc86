// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sums of values that are codes. With w a token's weight (f32), group by group
// of elements that share a scale:
//   u = bf16(w * scale)
//   out = sum(u * x) + sum(w * (scale * (shift + middle) + bias) - middle * u)
// The first sum runs through tile products of u and the numbers x that codes
// stand for (exact in bf16); the second repairs what rounding u would cost
// where the numbers are far from zero. Steps of 32 tokens that no row of the
// call sees are left out, as in attend_values-inl.h; slots that hold no token
// count as scale 0. Include it in a kernel's .cpp file alone, after its Isa.

#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/kernels/cpu/attend_coded_keys-inl.h"
#include "holdfast/kernels/cpu/attend_values-inl.h"

namespace holdfast::cpu {
namespace {

template <class Isa>
struct CodedValues {
  using Tiles = typename Isa::Tiles;
  using V = typename Isa::V;
  static constexpr bool kNarrow = false; // they are narrowed group by group

  static void prepare(const SplitJob& job) {
    if (job.rows <= 16) {
      return;
    }
    const int64_t tiles = job.value_dim / 8;
    for (int64_t b = 0; b < job.block_count; ++b) {
      Isa::expand(
          job.values->codes,
          job.blocks[b].values,
          tiles,
          job.scratch.value_tiles + b * tiles * 512);
    }
  }

  static void values(Tiles& tiles, const ValuePass& pass) {
    const SplitJob& job = *pass.job;
    Steps steps;
    find(pass, steps);
    const CodedPlanes& codes = job.values->codes;
    const int64_t group = codes.group / 16; // in tiles
    const bool one = pass.rows <= 16;
    const int64_t wide = one ? 4 : 2;
    alignas(64) float repair[kGroupRows];
    for (int64_t g = 0; g < job.value_dim / codes.group; ++g) {
      weigh(pass, steps, g, repair);
      for (int64_t n = g * group; n < (g + 1) * group;) {
        const int64_t left = (g + 1) * group - n;
        int64_t columns = left >= wide ? wide : left >= 2 ? 2 : 1;
        if (one && job.rows <= 16) {
          columns == 4       ? product<1, 4, true>(tiles, pass, steps, n)
              : columns == 2 ? product<1, 2, true>(tiles, pass, steps, n)
                             : product<1, 1, true>(tiles, pass, steps, n);
        } else if (one) {
          columns == 4       ? product<1, 4, false>(tiles, pass, steps, n)
              : columns == 2 ? product<1, 2, false>(tiles, pass, steps, n)
                             : product<1, 1, false>(tiles, pass, steps, n);
        } else {
          columns == 2 ? product<2, 2, false>(tiles, pass, steps, n)
                       : product<2, 1, false>(tiles, pass, steps, n);
        }
        n += columns;
      }
      if (codes.wide() || codes.biases != 0) {
        mend(pass, g, repair);
      }
    }
  }

 private:
  struct Step {
    int64_t block;
    int64_t half;
  };
  struct Steps {
    int64_t count = 0;
    Step at[kSplitSteps];
  };

  /// The steps that some row sees.
  static void find(const ValuePass& pass, Steps& steps) {
    for (int64_t b = 0; b < pass.job->block_count; ++b) {
      for (int64_t s = 0; s < 2; ++s) {
        if ((pass.visible[b] >> (kStepTokens * s) & 0xffffffffu) != 0) {
          steps.at[steps.count++] = {b, s};
        }
      }
    }
  }

  /// 16 scales or biases of tokens from t on, zero where no token is.
  static V load_written(
      const SplitJob& job,
      const BlockView& block,
      int64_t plane,
      int64_t g,
      int64_t t) {
    const V x =
        load_scales<Isa>(job.values->codes, block.values + plane, g * 64 + t);
    const int64_t left = block.written - t;
    if (left >= 16) {
      return x;
    }
    const auto here = static_cast<uint16_t>(left <= 0 ? 0u : (1u << left) - 1u);
    return Isa::select(here, x, V::set(0.0f));
  }

  /// The group's u of each step into the scratch, and each row's second sum.
  static void
  weigh(const ValuePass& pass, const Steps& steps, int64_t g, float* repair) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const bool mends = codes.wide() || codes.biases != 0;
    const V before = V::set(codes.wide() ? kWideBefore : 1.0f);
    const V shift = V::set(codes.shift + codes.middle);
    const V middle =
        V::set(-codes.middle * (codes.wide() ? 1.0f / kWideBefore : 1.0f));
    alignas(64) float sums[kGroupRows][16];
    for (int64_t r = 0; mends && r < pass.rows; ++r) {
      V::set(0.0f).store(sums[r]);
    }
    for (int64_t i = 0; i < steps.count; ++i) {
      const Step step = steps.at[i];
      const BlockView& block = job.blocks[step.block];
      const int64_t t = step.half * kStepTokens;
      V scale[2], plain[2];
      for (int j = 0; j < 2; ++j) {
        const V s = load_written(job, block, codes.scales, g, t + 16 * j);
        const V bias = codes.biases != 0
            ? load_written(job, block, codes.biases, g, t + 16 * j)
            : V::set(0.0f);
        plain[j] = V::fma(s, shift, bias);
        scale[j] = s * before;
      }
      const float* w = job.scratch.scores + step.block * kGroupRows * 64 + t;
      uint16_t* to = job.scratch.weights + i * kGroupRows * kStepTokens;
      for (int64_t r = 0; r < pass.rows; ++r) {
        const V low = V::load(w + r * 64);
        const V high = V::load(w + r * 64 + 16);
        V u = low * scale[0];
        V v = high * scale[1];
        Isa::narrow_weights(u, v, to + r * kStepTokens);
        if (mends) {
          V sum = V::fma(low, plain[0], V::load(sums[r]));
          sum = V::fma(high, plain[1], sum);
          V::fma(u + v, middle, sum).store(sums[r]);
        }
      }
    }
    for (int64_t r = 0; mends && r < pass.rows; ++r) {
      repair[r] = V::load(sums[r]).sum();
    }
  }

  /// out = out * after + the row's second sum, over a group's elements.
  static void mend(const ValuePass& pass, int64_t g, const float* repair) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const V after = V::set(codes.wide() ? kWideAfter : 1.0f);
    for (int64_t r = 0; r < pass.rows; ++r) {
      float* out =
          job.result.out + (pass.row + r) * job.value_dim + g * codes.group;
      const V add = V::set(repair[r]);
      for (int64_t d = 0; d < codes.group; d += 16) {
        V::fma(V::load(out + d), after, add).store(out + d);
      }
    }
  }

  /// kRows row tiles by kColumns column tiles from tile n on.
  template <int kRows, int kColumns, bool kExpand>
  static void
  product(Tiles& tiles, const ValuePass& pass, const Steps& steps, int64_t n) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const int64_t dim = job.value_dim;
    uint16_t* ring = job.scratch.ring;
    const auto expand = [&](int64_t i) {
      const int64_t tile = steps.at[i].half * (dim / 16) + n;
      Isa::expand(
          codes,
          job.blocks[steps.at[i].block].values + tile * 64 * codes.bits,
          kColumns,
          ring + i % 2 * 2048);
    };
    each_tile<kRows * kColumns>([&]<int kC>() { tiles.template zero<kC>(); });
    if constexpr (kExpand) {
      expand(0);
    }
    for (int64_t i = 0; i < steps.count; ++i) {
      const uint16_t* b;
      if constexpr (kExpand) {
        b = ring + i % 2 * 2048;
        if (i + 1 < steps.count) {
          expand(i + 1);
        }
      } else {
        const int64_t step = 2 * steps.at[i].block + steps.at[i].half;
        b = job.scratch.value_tiles + (step * (dim / 16) + n) * 512;
      }
      const uint16_t* u = job.scratch.weights + i * kGroupRows * kStepTokens;
      tiles.template load_a<0>(u);
      if constexpr (kRows == 2) {
        tiles.template load_a<1>(u + 16 * kStepTokens);
      }
      each_tile<kColumns>([&]<int kN>() {
        tiles.template load_b<kN % 2>(b + kN * 512);
        tiles.template dot<kN, 0, kN % 2>();
        if constexpr (kRows == 2) {
          tiles.template dot<kColumns + kN, 1, kN % 2>();
        }
      });
      fetch_step(*pass.job->fetch);
    }
    float* out = job.result.out + pass.row * dim + n * 16;
    each_tile<kRows * kColumns>([&]<int kC>() {
      tiles.template store_c<kC>(
          out + kC / kColumns * 16 * dim + kC % kColumns * 16, dim * 4);
    });
  }
};

} // namespace
} // namespace holdfast::cpu
