// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// turbo_encode() of turbo_vector.h. Include it in vector_loops_*.cpp alone.

#pragma once

#include "holdfast/codec/rotation_loops-inl.h"
#include "holdfast/codec/round_loops-inl.h"
#include "holdfast/codec/turbo_books.h"
#include "holdfast/codec/turbo_layout.h"
#include "holdfast/codec/turbo_steps.h"

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

/// Codes and levels by floor(2 u) + kTwiceMax, for u in units of the levels.
/// Thresholds are midpoints of integers, so that floor decides: an element at a
/// threshold goes up.
inline constexpr int kTwiceMax = 256;

struct NearestLevel {
  uint8_t codes[2 * kTwiceMax + 1];
  float levels[2 * kTwiceMax + 1];
};

constexpr NearestLevel nearest_level(const TurboBook& book) {
  NearestLevel nearest{};
  int code = 0;
  for (int twice = -kTwiceMax; twice <= kTwiceMax; ++twice) {
    while (code + 1 < 1 << book.bits &&
           twice >= book.levels[code] + book.levels[code + 1]) {
      ++code;
    }
    nearest.codes[twice + kTwiceMax] = static_cast<uint8_t>(code);
    nearest.levels[twice + kTwiceMax] = book.levels[code];
  }
  return nearest;
}
constexpr NearestLevel kNearest[] = {
    nearest_level(kTurboBooks[0]),
    nearest_level(kTurboBooks[1]),
    nearest_level(kTurboBooks[2]),
    nearest_level(kTurboBooks[3])};

/// The levels of a rotated vector for one step: what an element is multiplied
/// by to be compared with them.
struct Trial {
  int32_t places[kTurboMaxDim]; // in NearestLevel
  float levels[kTurboMaxDim];
  float product; // of the vector and its levels
};

// Loops of one kind of step each: compilers do several elements at once.
inline void try_step(
    const NearestLevel& nearest,
    const float* rotated,
    int64_t dim,
    float step,
    Trial& trial) {
  for (int64_t d = 0; d < dim; ++d) {
    const float twice = 2.0f * (rotated[d] * step);
    const float above = twice > -256.0f ? twice : -256.0f;
    trial.levels[d] = above < 256.0f ? above : 256.0f;
  }
  for (int64_t d = 0; d < dim; ++d) {
    const auto near = static_cast<int32_t>(trial.levels[d]);
    const int32_t above = static_cast<float>(near) > trial.levels[d];
    trial.places[d] = near - above + kTwiceMax;
  }
  for (int64_t d = 0; d < dim; ++d) {
    trial.levels[d] = nearest.levels[trial.places[d]];
  }
  trial.product = dot(rotated, trial.levels, dim);
}

/// The best of kTurboSteps: its levels point most nearly along the vector.
/// Writes the codes and returns the product of the vector and its levels.
inline float encode_by_book(
    int bits,
    const float* rotated,
    int64_t dim,
    float squares,
    uint8_t* codes) {
  const NearestLevel& nearest = kNearest[bits - 2];
  const float rms = __builtin_sqrtf(squares / static_cast<float>(dim));
  const float usual = kTurboBooks[bits - 2].scale / rms;
  Trial trials[2];
  Trial* best = &trials[0];
  Trial* other = &trials[1];
  float quality = -1.0f;
  for (const float part : kTurboSteps) {
    try_step(nearest, rotated, dim, usual * part, *other);
    // Sums of squared integers below 2^24: exact.
    const float length = dot(other->levels, other->levels, dim);
    const float here = other->product / length * other->product;
    if (here > quality) {
      quality = here;
      Trial* const last = best;
      best = other;
      other = last;
    }
  }
  for (int64_t d = 0; d < dim; ++d) {
    codes[d] = nearest.codes[best->places[d]];
  }
  return best->product;
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

inline float
turbo_encode_loop(int bits, const float* vector, int64_t dim, uint8_t* codes) {
  float rotated[kTurboMaxDim];
  const bool rounded = round_to_bf16(vector, dim, rotated);
  rotate_loop(rotated, dim);
  const float squares = dot(rotated, rotated, dim);
  const bool finite = rounded && squares < __builtin_inff();
  if (!finite || squares < kTurboSmallest) {
    const int zero =
        bits == 8 ? -kTurboUniformZero : kNearest[bits - 2].codes[kTwiceMax];
    for (int64_t d = 0; d < dim; ++d) {
      codes[d] = static_cast<uint8_t>(zero);
    }
    return finite ? 0.0f : std::bit_cast<float>(0x7fc00000u);
  }
  const float product = bits == 8
      ? encode_uniform(rotated, dim, codes)
      : encode_by_book(bits, rotated, dim, squares, codes);
  // With this norm the stored vector's product with the true one is the true
  // one's square: rounding to levels shrinks no score and no value on average.
  return squares / product;
}

} // namespace
} // namespace holdfast
