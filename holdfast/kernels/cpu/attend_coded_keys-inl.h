// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Scores against keys that are codes (attend_digits-inl.h): group by group of
// elements that share a scale,
//   score += scale * (query's step * product + shift * sum(q)) [+ bias *
//   sum(q)]
// with scale and bias times the scores' own scale, and sum(q) over the group's
// packed elements. Include it in a kernel's .cpp file alone, after its Isa.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "holdfast/kernels/cpu/attend_digits-inl.h"
#include "holdfast/kernels/cpu/attend_keys-inl.h"

namespace holdfast::cpu {
namespace {

template <class Isa>
struct CodedKeys {
  using Tiles = typename Isa::Tiles;
  using V = typename Isa::V;

  static void pack_query(
      const float* q,
      int64_t dim,
      const CodedPlanes& codes,
      void* packed,
      float* terms) {
    alignas(64) float padded[kMostDim] = {};
    V largest = V::set(0.0f);
    V sum = V::set(0.0f);
    for (int64_t d = 0; d < dim; d += 16) {
      const V x = V::load(q + d);
      x.store(padded + d);
      largest = V::max(V::abs(x), largest);
      sum = sum + x;
    }
    const DigitScale scale = digit_scale(Isa::largest(largest), sum.sum());
    const int64_t width = (dim + 31) / 32 * 32;
    const int64_t bytes = digit_bytes(codes, width);
    auto* high = static_cast<int8_t*>(packed);
    auto* low = high + bytes;
    std::memset(high, 0, static_cast<size_t>(2 * bytes));
    if (scale.factor > 0.0f) {
      for (int64_t d = 0; d < width; d += 64) {
        alignas(64) int8_t digits[2][kDigitRow];
        Isa::split_digits(
            codes, padded + d, scale.factor, digits[0], digits[1]);
        if (codes.group == 32) { // each half in a row of its own
          for (int64_t half = 0; half < 64 && d + half < width; half += 32) {
            const int64_t at = (d + half) * 2 + half;
            std::memcpy(high + at, digits[0] + half, 32);
            std::memcpy(low + at, digits[1] + half, 32);
          }
        } else {
          std::memcpy(high + d, digits[0], kDigitRow);
          std::memcpy(low + d, digits[1], kDigitRow);
        }
      }
    }
    *terms++ = scale.step;
    const int64_t groups = width / codes.group;
    for (int64_t g = 0; g < groups; ++g) {
      int32_t total = 0;
      for (int64_t i = g * bytes / groups; i < (g + 1) * bytes / groups; ++i) {
        total += 128 * high[i] + low[i];
      }
      *terms++ = scale.step * static_cast<float>(total);
    }
  }

  /// Expands the split's keys where several groups of rows read them.
  static void prepare(const SplitJob& job) {
    for (int64_t b = 0; job.rows > 16 && b < job.block_count; ++b) {
      for (int64_t i = 0; i < steps_of(job); ++i) {
        expand(
            job,
            job.blocks[b].keys,
            i,
            job.scratch.key_tiles + b * tiles_bytes(job));
      }
    }
  }

  static void scores(Tiles& tiles, const ScorePass& pass) {
    const SplitJob& job = *pass.job;
    const int8_t* keys = job.scratch.key_tiles + pass.block * tiles_bytes(job);
    int64_t made = steps_of(job);
    if (job.rows <= 16) {
      keys = job.scratch.tiles;
      expand(job, pass.keys, 0, job.scratch.tiles);
      made = 1;
    }
    const int64_t groups = job.key_width / job.keys->codes.group;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * job.keys->codes.group / 64;
      const auto ahead = [&](int64_t s) {
        for (; made < steps_of(job) && made <= first + s + 1; ++made) {
          expand(job, pass.keys, made, job.scratch.tiles);
        }
      };
      if (job.rows <= 8) {
        multiply<1, 4>(tiles, product(pass, keys, g, 0, 0), ahead);
        combine(pass, g);
        continue;
      }
      for (int64_t row = 0; row < pass.rows; row += 16) {
        for (int64_t step = 0; step < 2; ++step) {
          if ((pass.steps >> step & 1) != 0) {
            multiply<2, 2>(tiles, product(pass, keys, g, row, 2 * step), ahead);
          }
        }
      }
      combine(pass, g);
    }
  }

 private:
  static constexpr int64_t kMostDim = 512;

  /// Tiles along the head.
  static int64_t steps_of(const SplitJob& job) {
    return (job.key_width + 63) / 64;
  }
  static int64_t tiles_bytes(const SplitJob& job) {
    return steps_of(job) * 4 * kIntTile;
  }

  /// Step i of a block's keys, to [width / 64][4] tiles. A last half tile keeps
  /// whatever the scratch holds: its digits are zero.
  static void
  expand(const SplitJob& job, const std::byte* from, int64_t i, int8_t* to) {
    for (int64_t k = 2 * i; k < 2 * i + 2 && k < job.key_width / 32; ++k) {
      Isa::expand(
          job.keys->codes,
          from + k * 256 * job.keys->codes.bits,
          4,
          to + k / 2 * 4 * kIntTile + k % 2 * (kIntTile / 2),
          kIntTile);
      fetch_step(*job.fetch);
    }
  }

  /// Group g's product of rows from `row` on by token groups from `column` on.
  static DigitProduct product(
      const ScorePass& pass,
      const int8_t* keys,
      int64_t g,
      int64_t row,
      int64_t column) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.keys->codes;
    const int64_t bytes = digit_bytes(codes, job.key_width);
    const int64_t groups = job.key_width / codes.group;
    const int64_t tile = g * codes.group / 64;
    const int64_t steps = (codes.group + 63) / 64;
    return {
        .a = static_cast<const int8_t*>(job.q) + (pass.row + row) * 2 * bytes +
            g * (bytes / groups),
        .a_stride = bytes,
        .a_step = kDigitRow,
        .b = keys + (tile * 4 + column) * kIntTile,
        .b_step = 4 * kIntTile,
        .steps = steps,
        .products = job.scratch.products + row * 2 * 64 + column * 16};
  }

  /// Adds group g's part to the scores, scaled; the last group's makes them
  /// shaped ones.
  static void combine(const ScorePass& pass, int64_t g) {
    const SplitJob& job = *pass.job;
    const CodedPlanes& codes = job.keys->codes;
    const int64_t groups = job.key_width / codes.group;
    const bool last = g + 1 == groups;
    const bool biased = codes.biases != 0;
    V scale[4], bias[4];
    for (int i = 0; i < 4; ++i) {
      const int64_t at = g * 64 + i * 16;
      scale[i] = load_scales<Isa>(codes, pass.keys + codes.scales, at) *
          V::set(job.scale);
      bias[i] = biased ? load_scales<Isa>(codes, pass.keys + codes.biases, at) *
              V::set(job.scale)
                       : V::set(0.0f);
    }
    for (int64_t r = 0; r < pass.rows; ++r) {
      const int32_t* products = job.scratch.products + r * 2 * 64;
      const float* terms = job.q_terms + (pass.row + r) * (groups + 1);
      float* scores = pass.scores + r * kScoreRow;
      const V step = V::set(terms[0]);
      const V sum = V::set(terms[1 + g]);
      const V shift = sum * V::set(codes.shift);
      V largest = V::load(job.scratch.largest + 16 * r);
      for (int i = 0; i < 4; ++i) {
        if ((pass.steps >> (i / 2) & 1) == 0) {
          continue;
        }
        const V x = V::fma(
            Isa::join(products + 16 * i, products + 64 + 16 * i), step, shift);
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
};

} // namespace
} // namespace holdfast::cpu
