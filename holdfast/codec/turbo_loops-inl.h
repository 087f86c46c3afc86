// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// turbo_encode() of vector_loops.h. Include it in vector_loops_plain.cpp alone.

#pragma once

#include "holdfast/codec/rotation_loops-inl.h"
#include "holdfast/codec/round_loops-inl.h"
#include "holdfast/codec/turbo_books.h"
#include "holdfast/codec/turbo_layout.h"
#include "holdfast/codec/turbo_steps.h"
#include "holdfast/codec/vector_loops.h"

namespace holdfast {
namespace {

/// The sum of a[d] * b[d] in 16 strided lanes (element d in lane d % 16, in
/// order), then lanes 8, 4, 2 and 1 apart.
inline float dot(const float* a, const float* b, int64_t dim) {
  FloatLanes sum{};
  for (int64_t first = 0; first < dim; first += kLanes) {
    FloatLanes x;
    FloatLanes y;
    load(a + first, x);
    load(b + first, y);
    sum += x * y;
  }
  return fold_lanes(
      sum, [](FloatLanes& x, const FloatLanes& other) { x += other; });
}

inline float sum_of_lanes(const float* lanes) {
  FloatLanes sum;
  load(lanes, sum);
  return fold_lanes(
      sum, [](FloatLanes& x, const FloatLanes& other) { x += other; });
}

/// The positive half of a table as a staircase over twice the size of an
/// element: `first`, and `rise` more from each `at` on (twice the midpoint of
/// two levels, an integer).
template <int bits>
struct Staircase {
  static constexpr int half = 1 << (bits - 1);
  float first;
  float at[half - 1];
  float rise[half - 1];
};

template <int bits>
constexpr Staircase<bits> staircase() {
  const int8_t* levels = kTurboBooks[bits - 2].levels + (1 << (bits - 1));
  Staircase<bits> stairs{};
  stairs.first = levels[0];
  for (int k = 0; k + 1 < stairs.half; ++k) {
    stairs.at[k] = static_cast<float>(levels[k] + levels[k + 1]);
    stairs.rise[k] = static_cast<float>(levels[k + 1] - levels[k]);
  }
  return stairs;
}

/// Sums over a vector for one step.
struct Trial {
  float product; // of sizes and levels
  float length; // of squared levels: integers below 2^24, exact
};

/// sizes: the magnitudes of the rotated vector. Levels have the signs of their
/// elements, so that sums of products need neither. twice_step: twice what an
/// element is multiplied by to be compared with the levels.
template <int bits>
inline Trial try_step(const float* sizes, int64_t dim, float twice_step) {
  constexpr Staircase<bits> stairs = staircase<bits>();
  const FewFloats zero{};
  float products[kLanes];
  float lengths[kLanes];
  for (int64_t lane = 0; lane < kLanes; lane += kFew) {
    FewFloats product{};
    FewFloats length{};
    for (int64_t d = lane; d < dim; d += kLanes) {
      FewFloats size;
      load(sizes + d, size);
      const FewFloats twice = size * twice_step;
      FewFloats level = zero + stairs.first;
      for (int k = 0; k + 1 < stairs.half; ++k) {
        level += twice >= stairs.at[k] ? zero + stairs.rise[k] : zero;
      }
      product += size * level;
      length += level * level;
    }
    __builtin_memcpy(products + lane, &product, sizeof(product));
    __builtin_memcpy(lengths + lane, &length, sizeof(length));
  }
  return {sum_of_lanes(products), sum_of_lanes(lengths)};
}

template <int bits>
inline void put_levels(
    const float* rotated,
    int64_t dim,
    float twice_step,
    uint8_t* codes) {
  constexpr Staircase<bits> stairs = staircase<bits>();
  for (int64_t first = 0; first < dim; first += kFew) {
    FewFloats x;
    load(rotated + first, x);
    const FewInts negative = (FewInts)x >> 31; // -1 or 0
    const FewFloats twice = (FewFloats)((FewInts)x & 0x7fffffff) * twice_step;
    FewInts code = FewInts{} + stairs.half;
    for (int k = 0; k + 1 < stairs.half; ++k) {
      code -= (FewInts)(twice >= stairs.at[k]);
    }
    code ^= negative & (2 * stairs.half - 1);
    for (int64_t i = 0; i < kFew; ++i) {
      codes[first + i] = static_cast<uint8_t>(code[i]);
    }
  }
}

/// The best of kTurboSteps: its levels point most nearly along the vector.
/// Writes the codes and returns the product of the vector and its levels.
template <int bits>
inline float encode_by_book(
    const float* rotated,
    int64_t dim,
    float squares,
    uint8_t* codes) {
  float sizes[kTurboMaxDim];
  for (int64_t d = 0; d < dim; ++d) {
    sizes[d] = __builtin_fabsf(rotated[d]);
  }
  const float rms = __builtin_sqrtf(squares / static_cast<float>(dim));
  const float unit = kTurboBooks[bits - 2].scale / rms;
  float quality = -1.0f;
  float best_step = 0.0f;
  float product = 0.0f;
  for (const float part : kTurboSteps) {
    const float twice_step = 2.0f * (unit * part);
    const Trial trial = try_step<bits>(sizes, dim, twice_step);
    const float here = trial.product / trial.length * trial.product;
    if (here > quality) {
      quality = here;
      best_step = twice_step;
      product = trial.product;
    }
  }
  put_levels<bits>(rotated, dim, best_step, codes);
  return product;
}

/// The same for 8 bits, whose largest level meets the largest element.
inline float encode_uniform(const float* rotated, int64_t dim, uint8_t* codes) {
  FloatLanes peaks{};
  for (int64_t first = 0; first < dim; first += kLanes) {
    FloatLanes x;
    load(rotated + first, x);
    x = (FloatLanes)((WordLanes)x & 0x7fffffffu);
    peaks = x > peaks ? x : peaks;
  }
  const float peak =
      fold_lanes(peaks, [](FloatLanes& x, const FloatLanes& other) {
        x = other > x ? other : x;
      });
  const float step = 127.0f / peak;
  float levels[kTurboMaxDim];
  for (int64_t d = 0; d < dim; ++d) {
    // Adding 1.5 * 2^23 rounds to an integer, to nearest even.
    const float level = rotated[d] * step + 0x1.8p23f - 0x1.8p23f;
    const float above = level > -127.0f ? level : -127.0f;
    levels[d] = above < 127.0f ? above : 127.0f;
    codes[d] =
        static_cast<uint8_t>(static_cast<int>(levels[d]) - kTurboUniformZero);
  }
  return dot(rotated, levels, dim);
}

inline float turbo_encode_vector(
    int bits,
    const float* vector,
    int64_t dim,
    uint8_t* codes) {
  float rotated[kTurboMaxDim];
  const bool rounded = round_to_bf16(vector, dim, rotated);
  rotate_loop(rotated, dim);
  const float squares = dot(rotated, rotated, dim);
  const bool finite = rounded && squares < __builtin_inff();
  if (!finite || squares < kTurboSmallest) {
    const int zero = bits == 8 ? -kTurboUniformZero : 1 << (bits - 1);
    for (int64_t d = 0; d < dim; ++d) {
      codes[d] = static_cast<uint8_t>(zero);
    }
    return finite ? 0.0f : std::bit_cast<float>(0x7fc00000u);
  }
  const auto encode = bits == 2 ? encode_by_book<2>
      : bits == 3               ? encode_by_book<3>
      : bits == 4               ? encode_by_book<4>
                                : encode_by_book<5>;
  const float product = bits == 8 ? encode_uniform(rotated, dim, codes)
                                  : encode(rotated, dim, squares, codes);
  // With this norm the stored vector's product with the true one is the true
  // one's square: rounding to levels shrinks no score and no value on average.
  return squares / product;
}

inline void
turbo_encode_loop(int bits, const CodedVectors& vectors, float* norms) {
  for (int64_t i = 0; i < vectors.count; ++i) {
    norms[i] = turbo_encode_vector(
        bits, vectors.vector(i), vectors.dim, vectors.codes_of(i));
  }
}

} // namespace
} // namespace holdfast
