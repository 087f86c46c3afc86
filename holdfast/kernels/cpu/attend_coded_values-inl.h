// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sums of values that are codes (attend_digits-inl.h). With w a token's weight
// (f32), group by group of elements that share a scale:
//   u = w * scale, as integers times a step of the row and split
//   out = step * sum(u * x) [+ sum(w * (scale * shift + bias))]
// x the numbers that codes stand for; the second sum is in f32. Tokens that
// a row does not see have weight zero, and so have slots that hold no token,
// whose scales count as zero. Include it in a kernel's .cpp file alone, after
// its Isa.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_digits-inl.h"
#include "holdfast/kernels/cpu/attend_values-inl.h"

namespace holdfast::cpu {
namespace {

template <class Isa>
struct CodedValues {
  using Tiles = typename Isa::Tiles;
  using V = typename Isa::V;

  static void prepare(const SplitJob& job) {
    for (int64_t b = 0; job.rows > 16 && b < job.block_count; ++b) {
      const int64_t tiles = job.value_dim / 16;
      expand(job, b, 0, tiles, job.scratch.value_tiles + b * tiles * kIntTile);
    }
  }

  /// The first group's u from scores; the weights stay for the other groups.
  static void weigh(const ValuePass& pass) {
    prepare_group<true>(pass, seen_steps(pass), 0);
  }

  static void values(Tiles& tiles, const ValuePass& pass) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.values->codes;
    const SeenSteps steps = seen_steps(pass);
    const int64_t group = codes.group / 16; // in tiles
    const bool one = job.rows <= 8;
    for (int64_t g = 0; g < job.value_dim / codes.group; ++g) {
      if (g > 0) {
        prepare_group<false>(pass, steps, g);
      }
      for (int64_t n = g * group; n < (g + 1) * group;) {
        const int64_t left = (g + 1) * group - n;
        const int64_t columns = left >= 4 && one ? 4 : left >= 2 ? 2 : 1;
        const Source source = locate(pass, n, columns);
        if (columns == 4) {
          sum_up<1, 4>(tiles, pass, source, n);
        } else if (one) {
          columns == 2 ? sum_up<1, 2>(tiles, pass, source, n)
                       : sum_up<1, 1>(tiles, pass, source, n);
        } else {
          columns == 2 ? sum_up<2, 2>(tiles, pass, source, n)
                       : sum_up<2, 1>(tiles, pass, source, n);
        }
        n += columns;
      }
    }
  }

 private:
  /// Of a group, by seen step: scale, and scale * shift + bias.
  struct Scales {
    alignas(64) float scale[kSplitSteps][32];
    alignas(64) float plain[kSplitSteps][32];
  };
  /// Tiles of values, a block every `step` bytes.
  struct Source {
    const int8_t* tiles;
    int64_t step;
  };

  /// `count` tiles of a block's values from tile n on.
  static void expand(
      const SplitJob& job,
      int64_t block,
      int64_t n,
      int64_t count,
      int8_t* to) {
    const CodedPlanes& codes = job.values->codes;
    for (int64_t half = 0; half < 2; ++half) {
      const int64_t tile = half * (job.value_dim / 16) + n;
      Isa::expand(
          codes,
          job.blocks[block].values + tile * 64 * codes.bits,
          count,
          to + half * (kIntTile / 2),
          kIntTile);
      fetch_step(*job.fetch);
    }
  }

  static Source locate(const ValuePass& pass, int64_t n, int64_t columns) {
    const SplitJob& job = *pass.job;
    if (job.rows > 16) {
      return {
          job.scratch.value_tiles + n * kIntTile,
          job.value_dim / 16 * kIntTile};
    }
    return {job.scratch.tiles, columns * kIntTile};
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
    for (int64_t i = 0; i < steps.count; ++i) {
      const BlockView& block = job.blocks[steps.at[i].block];
      for (int64_t j = 0; j < 32; j += 16) {
        const int64_t t = steps.at[i].half * kStepTokens + j;
        const V scale = load_written(job, block, codes.scales, g, t);
        scale.store(to.scale[i] + j);
        if (codes.biases != 0) {
          const V bias = load_written(job, block, codes.biases, g, t);
          V::fma(scale, V::set(codes.shift), bias).store(to.plain[i] + j);
        }
      }
    }
  }

  template <bool kExp>
  static void
  prepare_group(const ValuePass& pass, const SeenSteps& steps, int64_t g) {
    Scales scales;
    view_scales(*pass.job, steps, g, scales);
    for (int64_t r = 0; r < pass.rows; ++r) {
      make_digits<kExp>(pass, steps, scales, r);
      fetch_step(*pass.job->fetch);
    }
  }

  /// A row's u as digits, its step and its second sum; kExp: from scores, with
  /// the row's terms, else from weights.
  template <bool kExp>
  static void make_digits(
      const ValuePass& pass,
      const SeenSteps& steps,
      const Scales& scales,
      int64_t r) {
    const SplitJob& job = *pass.job;
    const bool biased = job.values->codes.biases != 0;
    const bool keeps = job.values->codes.group < job.value_dim;
    V max = V::set(0.0f);
    if constexpr (kExp) {
      max = V::set(begin_row<Isa>(pass, r));
    }
    // u of the split, zero where no row sees a step.
    alignas(64) float numbers[kSplitBlocks][64];
    if (steps.count < 2 * job.block_count) {
      std::memset(numbers, 0, sizeof numbers);
    }
    V sums[2] = {V::set(0.0f), V::set(0.0f)};
    V second = V::set(0.0f);
    V largest = V::set(0.0f);
    V check = V::set(0.0f);
    for (int64_t i = 0; i < steps.count; ++i) {
      const auto [block, half] = steps.at[i];
      float* s =
          job.scratch.scores + r * kScoreRow + block * 64 + half * kStepTokens;
      V low = V::load(s);
      V high = V::load(s + 16);
      if constexpr (kExp) {
        low = exp_nonpositive(low - max);
        high = exp_nonpositive(high - max);
        sums[0] = sums[0] + low;
        sums[1] = sums[1] + high;
        if (keeps) {
          low.store(s);
          high.store(s + 16);
        }
      }
      if (biased) {
        second = V::fma(low, V::load(scales.plain[i]), second);
        second = V::fma(high, V::load(scales.plain[i] + 16), second);
      }
      low = low * V::load(scales.scale[i]);
      high = high * V::load(scales.scale[i] + 16);
      largest = V::max(V::abs(low), V::max(V::abs(high), largest));
      check = check + (low + high);
      low.store(numbers[block] + half * kStepTokens);
      high.store(numbers[block] + half * kStepTokens + 16);
    }
    if constexpr (kExp) {
      job.result.sum[pass.row + r] = (sums[0] + sums[1]).sum();
    }
    const DigitScale scale = digit_scale(Isa::largest(largest), check.sum());
    job.scratch.row_terms[r] = scale.step;
    job.scratch.row_terms[kGroupRows + r] = biased ? second.sum() : 0.0f;
    for (int64_t b = 0; b < job.block_count; ++b) {
      int8_t* to = job.scratch.digits + 2 * r * kDigitsRow + b * kDigitRow;
      if (scale.factor > 0.0f) {
        Isa::split_digits(
            job.values->codes, numbers[b], scale.factor, to, to + kDigitsRow);
      } else {
        std::memset(to, 0, kDigitRow);
        std::memset(to + kDigitsRow, 0, kDigitRow);
      }
    }
  }

  /// All rows by kColumns tiles from tile n on, kA * 8 rows at a time.
  template <int kA, int kColumns>
  static void
  sum_up(Tiles& tiles, const ValuePass& pass, const Source& source, int64_t n) {
    const SplitJob& job = *pass.job;
    int32_t* products = job.scratch.products;
    int64_t made = job.rows <= 16 ? 0 : job.block_count;
    const auto ahead = [&](int64_t s) {
      for (; made < job.block_count && made <= s + 1; ++made) {
        expand(
            job,
            made,
            n,
            kColumns,
            job.scratch.tiles + made * kColumns * kIntTile);
      }
    };
    for (int64_t row = 0; row < pass.rows; row += 8 * kA) {
      multiply<kA, kColumns>(
          tiles,
          {.a = job.scratch.digits + row * 2 * kDigitsRow,
           .a_stride = kDigitsRow,
           .a_step = kDigitRow,
           .b = source.tiles,
           .b_step = source.step,
           .steps = job.block_count,
           .products = products},
          ahead);
      for (int64_t r = 0; r < 8 * kA && row + r < pass.rows; ++r) {
        const V step = V::set(job.scratch.row_terms[row + r]);
        const V second = V::set(job.scratch.row_terms[kGroupRows + row + r]);
        float* out =
            job.result.out + (pass.row + row + r) * job.value_dim + n * 16;
        for (int i = 0; i < kColumns; ++i) {
          const int32_t* p = products + r * 2 * 64 + 16 * i;
          V::fma(Isa::join(p, p + 64), step, second).store(out + 16 * i);
        }
      }
    }
  }
};

} // namespace
} // namespace holdfast::cpu
