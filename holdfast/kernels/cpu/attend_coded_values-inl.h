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
          job.scratch.value_tiles + b * tiles * 512,
          *job.fetch);
    }
  }

  /// Weights of one group for all elements become u at once; else they stay
  /// f32, and each group makes its own.
  static void weigh(const ValuePass& pass) {
    const SplitJob& job = *pass.job;
    if (job.values->codes.group < job.value_dim) {
      weigh_group<Isa, false>(pass);
      return;
    }
    Scales scales;
    const SeenSteps steps = seen_steps(pass);
    view_scales(job, steps, 0, scales);
    for (int64_t r = 0; r < pass.rows; ++r) {
      narrow_row<true>(pass, steps, scales, r);
      fetch_step(*job.fetch);
    }
  }

  static void values(Tiles& tiles, const ValuePass& pass) {
    const SplitJob& job = *pass.job;
    const SeenSteps steps = seen_steps(pass);
    const CodedPlanes& codes = job.values->codes;
    const int64_t group = codes.group / 16; // in tiles
    const bool single = codes.group == job.value_dim;
    const bool one = pass.rows <= 16;
    const int64_t wide = one ? 4 : 2;
    for (int64_t g = 0; g < job.value_dim / codes.group; ++g) {
      if (!single) {
        Scales scales;
        view_scales(job, steps, g, scales);
        for (int64_t r = 0; r < pass.rows; ++r) {
          narrow_row<false>(pass, steps, scales, r);
        }
      }
      for (int64_t n = g * group; n < (g + 1) * group;) {
        const int64_t left = (g + 1) * group - n;
        int64_t columns = left >= wide ? wide : left >= 2 ? 2 : 1;
        if (one && job.rows <= 16) {
          columns == 4       ? one_row_tile<4>(tiles, pass, steps, n)
              : columns == 2 ? one_row_tile<2>(tiles, pass, steps, n)
                             : one_row_tile<1>(tiles, pass, steps, n);
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
      if (mends(codes)) {
        mend(pass, g);
      }
    }
  }

 private:
  /// Of a group: scale * (what u needs), and scale * (shift + middle) + bias,
  /// by seen step.
  struct Scales {
    alignas(64) float scale[kSplitSteps][32];
    alignas(64) float plain[kSplitSteps][32];
  };

  /// Whether there is a second sum.
  static bool mends(const CodedPlanes& codes) {
    return codes.wide() || codes.biases != 0;
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

  static void view_scales(
      const SplitJob& job,
      const SeenSteps& steps,
      int64_t g,
      Scales& to) {
    const CodedPlanes& codes = job.values->codes;
    const V before = V::set(codes.wide() ? kWideBefore : 1.0f);
    const V shift = V::set(codes.shift + codes.middle);
    for (int64_t i = 0; i < steps.count; ++i) {
      const BlockView& block = job.blocks[steps.at[i].block];
      for (int64_t j = 0; j < 32; j += 16) {
        const int64_t t = steps.at[i].half * kStepTokens + j;
        const V scale = load_written(job, block, codes.scales, g, t);
        const V bias = codes.biases != 0
            ? load_written(job, block, codes.biases, g, t)
            : V::set(0.0f);
        (scale * before).store(to.scale[i] + j);
        V::fma(scale, shift, bias).store(to.plain[i] + j);
      }
    }
  }

  /// A row's u of each step into the scratch, and its second sum; kExp: from
  /// scores, with the row's terms, else from weights.
  template <bool kExp>
  static void narrow_row(
      const ValuePass& pass,
      const SeenSteps& steps,
      const Scales& scales,
      int64_t r) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const bool mend = mends(codes);
    const V middle =
        V::set(-codes.middle * (codes.wide() ? 1.0f / kWideBefore : 1.0f));
    V max = V::set(0.0f);
    if constexpr (kExp) {
      max = V::set(begin_row<Isa>(pass, r));
    }
    V sums[2] = {V::set(0.0f), V::set(0.0f)};
    V second = V::set(0.0f);
    for (int64_t i = 0; i < steps.count; ++i) {
      const float* s = job.scratch.scores + r * kScoreRow +
          steps.at[i].block * 64 + steps.at[i].half * kStepTokens;
      V low = V::load(s);
      V high = V::load(s + 16);
      if constexpr (kExp) {
        low = exp_nonpositive(low - max);
        high = exp_nonpositive(high - max);
        sums[0] = sums[0] + low;
        sums[1] = sums[1] + high;
      }
      V u = low * V::load(scales.scale[i]);
      V v = high * V::load(scales.scale[i] + 16);
      Isa::narrow_weights(
          u, v, job.scratch.weights + (i * kGroupRows + r) * kStepTokens);
      if (mend) {
        second = V::fma(low, V::load(scales.plain[i]), second);
        second = V::fma(high, V::load(scales.plain[i] + 16), second);
        second = V::fma(u + v, middle, second);
      }
    }
    if constexpr (kExp) {
      job.result.sum[pass.row + r] = (sums[0] + sums[1]).sum();
    }
    job.scratch.second[r] = mend ? second.sum() : 0.0f;
  }

  /// out = out * after + the row's second sum, over a group's elements.
  static void mend(const ValuePass& pass, int64_t g) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const V after = V::set(codes.wide() ? kWideAfter : 1.0f);
    for (int64_t r = 0; r < pass.rows; ++r) {
      float* out =
          job.result.out + (pass.row + r) * job.value_dim + g * codes.group;
      const V add = V::set(job.scratch.second[r]);
      for (int64_t d = 0; d < codes.group; d += 16) {
        V::fma(V::load(out + d), after, add).store(out + d);
      }
    }
  }

  /// Up to 16 rows by kColumns column tiles from tile n on, of codes.
  template <int kColumns>
  static void one_row_tile(
      Tiles& tiles,
      const ValuePass& pass,
      const SeenSteps& steps,
      int64_t n) {
    if constexpr (Tiles::kReadsCodes) {
      code_product<kColumns>(tiles, pass, steps, n);
    } else {
      product<1, kColumns, true>(tiles, pass, steps, n);
    }
  }

  /// By tiles that take codes as they lie.
  template <int kColumns>
  static void code_product(
      Tiles& tiles,
      const ValuePass& pass,
      const SeenSteps& steps,
      int64_t n) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const int64_t dim = job.value_dim;
    const typename Tiles::Run run;
    zero_tiles<kColumns>(tiles);
    for (int64_t i = 0; i < steps.count; ++i) {
      const int64_t tile = steps.at[i].half * (dim / 16) + n;
      const std::byte* from =
          job.blocks[steps.at[i].block].values + tile * 64 * codes.bits;
      tiles.template load_a<0>(
          job.scratch.weights + i * kGroupRows * kStepTokens);
      each_tile<kColumns>([&]<int kN>() {
        tiles.template dot_codes<kN, 0>(
            run, codes, from + kN * 64 * codes.bits);
        fetch_step(*job.fetch);
        fetch_step(*job.fetch);
      });
    }
    store_columns<1, kColumns>(tiles, pass, n);
  }

  template <int kRows, int kColumns>
  static void store_columns(Tiles& tiles, const ValuePass& pass, int64_t n) {
    const int64_t dim = pass.job->value_dim;
    float* out = pass.job->result.out + pass.row * dim + n * 16;
    each_tile<kRows * kColumns>([&]<int kC>() {
      tiles.template store_c<kC>(
          out + kC / kColumns * 16 * dim + kC % kColumns * 16, dim * 4);
    });
  }

  /// kRows row tiles by kColumns column tiles from tile n on.
  template <int kRows, int kColumns, bool kExpand>
  static void product(
      Tiles& tiles,
      const ValuePass& pass,
      const SeenSteps& steps,
      int64_t n) {
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
          ring + i % 2 * 2048,
          *job.fetch);
    };
    const typename Tiles::Run run;
    zero_tiles<kRows * kColumns>(tiles);
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
        tiles.template dot<kN, 0, kN % 2>(run);
        if constexpr (kRows == 2) {
          tiles.template dot<kColumns + kN, 1, kN % 2>(run);
        }
        fetch_step(*job.fetch);
      });
    }
    store_columns<kRows, kColumns>(tiles, pass, n);
  }
};

} // namespace
} // namespace holdfast::cpu
