// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Sums of values under the weights of a split, from zero, by value format.
// Include it in a kernel's .cpp file alone, after its Isa.
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

/// A split for one group of rows: result.out [rows] from the weights in the
/// scratch.
struct ValuePass {
  const SplitJob* job;
  int64_t row;
  int64_t rows; // at most kGroupRows
  const uint64_t* visible; // [block] keys that any of the rows sees
};

/// The steps of 32 tokens of a split that some row of the group sees.
struct SeenSteps {
  struct Step {
    int64_t block;
    int64_t half;
  };
  int64_t count = 0;
  Step at[kSplitSteps];
};

inline SeenSteps seen_steps(const ValuePass& pass) {
  SeenSteps steps;
  for (int64_t b = 0; b < pass.job->block_count; ++b) {
    for (int64_t half = 0; half < 2; ++half) {
      if ((pass.visible[b] >> (kStepTokens * half) & 0xffffffffu) != 0) {
        steps.at[steps.count++] = {b, half};
      }
    }
  }
  return steps;
}

/// Starts a row's terms: its maximum, and what to subtract from its scores (a
/// row that sees nothing of the split has weights of zero).
template <class Isa>
inline float begin_row(const ValuePass& pass, int64_t r) {
  const float max =
      Isa::largest(Isa::V::load(pass.job->scratch.largest + 16 * r));
  pass.job->result.max[pass.row + r] = max;
  return max == kNothing ? 0.0f : max;
}

/// Scores of a group to weights exp(s - max), and the rows' terms. A sum is
/// that of the weights as the values meet them. kNarrow: weights are bf16, the
/// i-th seen step's at scratch.weights[i]; else they take the scores' place.
template <class Isa, bool kNarrow>
inline void weigh_group(const ValuePass& pass) {
  using V = typename Isa::V;
  const SplitJob& job = *pass.job;
  const SeenSteps steps = seen_steps(pass);
  for (int64_t r = 0; r < pass.rows; ++r) {
    const V max = V::set(begin_row<Isa>(pass, r));
    V sums[2] = {V::set(0.0f), V::set(0.0f)};
    for (int64_t i = 0; i < steps.count; ++i) {
      float* s = job.scratch.scores + r * kScoreRow + steps.at[i].block * 64 +
          steps.at[i].half * kStepTokens;
      V low = exp_nonpositive(V::load(s) - max);
      V high = exp_nonpositive(V::load(s + 16) - max);
      if constexpr (kNarrow) {
        Isa::narrow_weights(
            low,
            high,
            job.scratch.weights + (i * kGroupRows + r) * kStepTokens);
      } else {
        low.store(s);
        high.store(s + 16);
      }
      sums[0] = sums[0] + low;
      sums[1] = sums[1] + high;
    }
    job.result.sum[pass.row + r] = (sums[0] + sums[1]).sum();
  }
}

template <class Isa>
struct TiledValues {
  using Tiles = typename Isa::Tiles;
  using V = typename Isa::V;
  static constexpr bool kNarrow = true;

  static void prepare(const SplitJob& job) {
    for (int64_t b = 0; b < job.block_count; ++b) {
      copy_tail(job, job.blocks[b]);
    }
  }

  static void values(Tiles& tiles, const ValuePass& pass) {
    const Steps steps = find(pass);
    const int64_t count = pass.job->value_dim / 16;
    const int64_t wide = pass.rows <= 16 ? 4 : 2;
    for (Range range{0, 0}; range.end < steps.count;) {
      range = {range.end, range.end + kRange};
      range.end = range.end < steps.count ? range.end : steps.count;
      for (int64_t n = 0; n < count;) {
        const int64_t columns = n + wide <= count ? wide : 1;
        if (pass.rows <= 16) {
          columns == 4 ? product<1, 4>(tiles, pass, steps, range, n)
                       : product<1, 1>(tiles, pass, steps, range, n);
        } else {
          columns == 2 ? product<2, 2>(tiles, pass, steps, range, n)
                       : product<2, 1>(tiles, pass, steps, range, n);
        }
        n += columns;
      }
    }
  }

 private:
  /// Makes the step of 32 tokens that ends among unwritten slots safe to read:
  /// a copy in the scratch in which those are zero.
  static void copy_tail(const SplitJob& job, const BlockView& block) {
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

  struct Steps {
    int64_t count = 0;
    const uint16_t* weights[kSplitSteps];
    const uint16_t* values[kSplitSteps];
  };

  /// Steps that go through the tiles at a time, so that their weights (2 KiB a
  /// step) stay in the first cache; the sums wait in the result meanwhile.
  static constexpr int64_t kRange = 8;
  struct Range {
    int64_t begin, end;
  };

  static Steps find(const ValuePass& pass) {
    const SplitJob& job = *pass.job;
    const SeenSteps seen = seen_steps(pass);
    Steps steps{.count = seen.count, .weights = {}, .values = {}};
    for (int64_t i = 0; i < seen.count; ++i) {
      const BlockView& block = job.blocks[seen.at[i].block];
      const int64_t half = seen.at[i].half;
      const bool whole = (half + 1) * kStepTokens <= block.written;
      steps.weights[i] = job.scratch.weights + i * kGroupRows * kStepTokens;
      steps.values[i] = whole
          ? reinterpret_cast<const uint16_t*>(block.values) +
              half * job.value_dim * kStepTokens
          : job.scratch.values;
    }
    return steps;
  }

  /// kRows row tiles by kColumns column tiles from tile n on.
  template <int kRows, int kColumns>
  static void product(
      Tiles& tiles,
      const ValuePass& pass,
      const Steps& steps,
      Range range,
      int64_t n) {
    const int64_t dim = pass.job->value_dim;
    float* out = pass.job->result.out + pass.row * dim + n * 16;
    const typename Tiles::Run run;
    each_tile<kRows * kColumns>([&]<int kC>() {
      if (range.begin == 0) {
        tiles.template zero<kC>();
      } else {
        tiles.template load_c<kC>(
            out + kC / kColumns * 16 * dim + kC % kColumns * 16, dim * 4);
      }
    });
    for (int64_t s = range.begin; s < range.end; ++s) {
      tiles.template load_a<0>(steps.weights[s]);
      if constexpr (kRows == 2) {
        tiles.template load_a<1>(steps.weights[s] + 16 * kStepTokens);
      }
      each_tile<kColumns>([&]<int kN>() {
        tiles.template load_b<kN % 2>(steps.values[s] + (n + kN) * 512);
        tiles.template dot<kN, 0, kN % 2>(run);
        if constexpr (kRows == 2) {
          tiles.template dot<kColumns + kN, 1, kN % 2>(run);
        }
        fetch_step(*pass.job->fetch);
      });
    }
    each_tile<kRows * kColumns>([&]<int kC>() {
      tiles.template store_c<kC>(
          out + kC / kColumns * 16 * dim + kC % kColumns * 16, dim * 4);
    });
  }
};

template <class Isa, class Elements>
struct RowValues {
  using Tiles = typename Isa::Tiles;
  using Type = typename Elements::Type;
  using V = typename Isa::V;
  static constexpr bool kNarrow = false;

  static void prepare(const SplitJob&) {}

  static void values(Tiles&, const ValuePass& pass) {
    const int64_t dim = pass.job->value_dim;
    for (int64_t d = 0; d < dim;) {
      for (int64_t b = 0; b < 8 * pass.job->block_count; ++b) {
        fetch_step(*pass.job->fetch);
      }
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
  template <int kRows, int kVectors>
  static void product(const ValuePass& pass, int64_t r, int64_t d) {
    const SplitJob& job = *pass.job;
    V sum[kRows][kVectors];
    for (auto& row : sum) {
      for (V& v : row) {
        v = V::set(0.0f);
      }
    }
    for (int64_t b = 0; b < job.block_count; ++b) {
      if (pass.visible[b] == 0) {
        continue;
      }
      const auto* values =
          reinterpret_cast<const Type*>(job.blocks[b].values) + d;
      const float* p = job.scratch.scores + r * kScoreRow + b * 64;
      const int64_t begin = __builtin_ctzll(pass.visible[b]);
      const int64_t end = 64 - __builtin_clzll(pass.visible[b]);
      for (int64_t j = begin; j < end; ++j) {
        V value[kVectors];
        for (int n = 0; n < kVectors; ++n) {
          value[n] =
              Elements::template load<Isa>(values + j * job.value_dim + 16 * n);
        }
        for (int i = 0; i < kRows; ++i) {
          const V weight = V::set(p[i * kScoreRow + j]);
          for (int n = 0; n < kVectors; ++n) {
            sum[i][n] = V::fma(weight, value[n], sum[i][n]);
          }
        }
      }
    }
    for (int i = 0; i < kRows; ++i) {
      float* out = job.result.out + (pass.row + r + i) * job.value_dim + d;
      for (int n = 0; n < kVectors; ++n) {
        sum[i][n].store(out + 16 * n);
      }
    }
  }
};

} // namespace
} // namespace holdfast::cpu
