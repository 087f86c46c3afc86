// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/turbo_vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "holdfast/codec/bf16_vector.h"
#include "holdfast/codec/rotation.h"

namespace holdfast {

namespace {

constexpr size_t kLanes = 16;
using Elements = std::array<float, kRotationMaxDim>;

// Sums of 16 strided lanes (element d in lane d % 16, in order) meet lanes 8,
// 4, 2 and 1 apart.
float total_of(std::array<float, kLanes> lanes) {
  for (size_t apart = kLanes / 2; apart > 0; apart /= 2) {
    for (size_t i = 0; i < apart; ++i) {
      lanes[i] += lanes[i + apart];
    }
  }
  return lanes[0];
}

float dot(std::span<const float> a, std::span<const float> b) {
  std::array<float, kLanes> lanes{};
  for (size_t first = 0; first < a.size(); first += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] += a[first + i] * b[first + i];
    }
  }
  return total_of(lanes);
}

// Codes and levels by floor(2 u) + kTwiceMax, for u in units of the levels.
// Thresholds are midpoints of integers, so that floor decides: an element at a
// threshold goes up.
constexpr int kTwiceMax = 256;

struct NearestLevel {
  std::array<uint8_t, 2 * kTwiceMax + 1> codes;
  std::array<float, 2 * kTwiceMax + 1> levels;
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

// The levels of a rotated vector for one step: what an element is multiplied by
// to be compared with them.
struct Trial {
  std::array<int32_t, kRotationMaxDim> places; // in NearestLevel
  Elements levels;
  float product; // of the vector and its levels
};

void try_step(
    const NearestLevel& nearest,
    std::span<const float> rotated,
    float step,
    Trial& trial) {
  // Loops of one kind of step each: compilers do several elements at once.
  Elements& twice = trial.levels;
  for (size_t d = 0; d < rotated.size(); ++d) {
    const float u = 2.0f * (rotated[d] * step);
    twice[d] = std::min(std::max(u, -256.0f), 256.0f);
  }
  for (size_t d = 0; d < rotated.size(); ++d) {
    const auto near = static_cast<int32_t>(twice[d]);
    const int32_t above = static_cast<float>(near) > twice[d];
    trial.places[d] = near - above + kTwiceMax;
  }
  for (size_t d = 0; d < rotated.size(); ++d) {
    trial.levels[d] = nearest.levels[trial.places[d]];
  }
  trial.product = dot(rotated, trial.levels);
}

// The best of kTurboSteps: its levels point most nearly along the vector.
// Writes the codes and returns the product of the vector and its levels.
float encode_by_book(
    int bits,
    std::span<const float> rotated,
    float squares,
    std::span<uint8_t> codes) {
  const NearestLevel& nearest = kNearest[bits - 2];
  const auto dim = static_cast<float>(rotated.size());
  const float usual = turbo_book(bits).scale / std::sqrt(squares / dim);
  std::array<Trial, 2> trials;
  Trial* best = &trials[0];
  Trial* other = &trials[1];
  float quality = -1.0f;
  for (const float part : kTurboSteps) {
    try_step(nearest, rotated, usual * part, *other);
    const std::span levels(other->levels.data(), rotated.size());
    // Sums of squared integers below 2^24: exact.
    const float here = other->product / dot(levels, levels) * other->product;
    if (here > quality) {
      quality = here;
      std::swap(best, other);
    }
  }
  for (size_t d = 0; d < codes.size(); ++d) {
    codes[d] = nearest.codes[best->places[d]];
  }
  return best->product;
}

// The same for 8 bits, whose largest level meets the largest element.
float encode_uniform(std::span<const float> rotated, std::span<uint8_t> codes) {
  float peak = 0.0f;
  for (const float y : rotated) {
    peak = std::max(peak, std::abs(y));
  }
  const float step = 127.0f / peak;
  Elements levels;
  for (size_t d = 0; d < rotated.size(); ++d) {
    // Adding 1.5 * 2^23 rounds to an integer, to nearest even.
    const float level = rotated[d] * step + 0x1.8p23f - 0x1.8p23f;
    levels[d] = std::clamp(level, -127.0f, 127.0f);
    codes[d] =
        static_cast<uint8_t>(static_cast<int>(levels[d]) - kTurboUniformZero);
  }
  return dot(rotated, {levels.data(), rotated.size()});
}

} // namespace

float turbo_encode(
    int bits,
    std::span<const float> vector,
    std::span<uint8_t> codes) {
  Elements buffer;
  const std::span<float> rotated(buffer.data(), vector.size());
  const bool rounded = round_to_bf16(vector, rotated);
  rotate(rotated);
  const float squares = dot(rotated, rotated);
  const bool finite =
      rounded && squares < std::numeric_limits<float>::infinity();
  if (!finite || squares < kTurboSmallest) {
    const int zero =
        bits == 8 ? -kTurboUniformZero : kNearest[bits - 2].codes[kTwiceMax];
    std::fill(codes.begin(), codes.end(), static_cast<uint8_t>(zero));
    return finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  const float product = bits == 8
      ? encode_uniform(rotated, codes)
      : encode_by_book(bits, rotated, squares, codes);
  // With this norm the stored vector's product with the true one is the true
  // one's square: rounding to levels shrinks no score and no value on average.
  return squares / product;
}

void turbo_decode_rotated(
    int bits,
    std::span<const uint8_t> codes,
    float norm,
    std::span<float> rotated) {
  for (size_t d = 0; d < rotated.size(); ++d) {
    rotated[d] = norm * static_cast<float>(turbo_level(bits, codes[d]));
  }
}

} // namespace holdfast
