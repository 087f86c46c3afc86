// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/codec/turbo_vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "holdfast/base/bits.h"
#include "holdfast/codec/rotation.h"

namespace holdfast {

namespace {

// Sums in 16 strided lanes (element d in lane d % 16, in order), then lanes 8,
// 4, 2 and 1 apart.
class LaneSum {
 public:
  void add(size_t d, float value) {
    lanes_[d % 16] += value;
  }
  float total() const {
    std::array<float, 16> lanes = lanes_;
    for (size_t apart = 8; apart > 0; apart /= 2) {
      for (size_t i = 0; i < apart; ++i) {
        lanes[i] += lanes[i + apart];
      }
    }
    return lanes[0];
  }

 private:
  std::array<float, 16> lanes_{};
};

// Codes by floor(2 u) + kTwiceMax, for u in units of the levels. Thresholds are
// midpoints of integers, so that floor decides: an element at a threshold goes
// up.
constexpr int kTwiceMax = 256;
using CodeTable = std::array<uint8_t, 2 * kTwiceMax + 1>;

constexpr CodeTable code_table(const TurboBook& book) {
  CodeTable table{};
  int code = 0;
  for (int twice = -kTwiceMax; twice <= kTwiceMax; ++twice) {
    while (code + 1 < 1 << book.bits &&
           twice >= book.levels[code] + book.levels[code + 1]) {
      ++code;
    }
    table[twice + kTwiceMax] = static_cast<uint8_t>(code);
  }
  return table;
}
constexpr CodeTable kCodeTables[] = {
    code_table(kTurboBooks[0]),
    code_table(kTurboBooks[1]),
    code_table(kTurboBooks[2]),
    code_table(kTurboBooks[3])};

uint8_t table_code(const CodeTable& table, float u) {
  const float twice = std::clamp(2.0f * u, -256.0f, 256.0f);
  auto below = static_cast<int>(twice);
  below -= static_cast<float>(below) > twice ? 1 : 0;
  return table[below + kTwiceMax];
}

uint8_t uniform_code(float u) {
  const float level = std::clamp(std::rint(u), -127.0f, 127.0f);
  return static_cast<uint8_t>(static_cast<int>(level) - kTurboUniformZero);
}

// Codes of a rotated vector for one step.
struct Trial {
  std::array<uint8_t, kRotationMaxDim> codes;
  float product; // of the vector and its levels
  float squares; // of the levels
};

// step: what an element is multiplied by to be compared with the levels.
void try_step(
    int bits,
    std::span<const float> rotated,
    float step,
    Trial& trial) {
  LaneSum product;
  int squares = 0;
  for (size_t d = 0; d < rotated.size(); ++d) {
    const float u = rotated[d] * step;
    const uint8_t code =
        bits == 8 ? uniform_code(u) : table_code(kCodeTables[bits - 2], u);
    const int level = turbo_level(bits, code);
    trial.codes[d] = code;
    product.add(d, rotated[d] * static_cast<float>(level));
    squares += level * level;
  }
  trial.product = product.total();
  trial.squares = static_cast<float>(squares);
}

float peak_of(std::span<const float> rotated) {
  float peak = 0.0f;
  for (const float y : rotated) {
    peak = std::max(peak, std::abs(y));
  }
  return peak;
}

} // namespace

float turbo_encode(
    int bits,
    std::span<const float> vector,
    std::span<uint8_t> codes) {
  std::array<float, kRotationMaxDim> buffer;
  const std::span<float> rotated(buffer.data(), vector.size());
  for (size_t d = 0; d < vector.size(); ++d) {
    rotated[d] = bf16_to_f32(f32_to_bf16(vector[d]));
  }
  rotate(rotated);
  LaneSum squares;
  for (size_t d = 0; d < rotated.size(); ++d) {
    squares.add(d, rotated[d] * rotated[d]);
  }
  const float total = squares.total();
  const bool finite = total < std::numeric_limits<float>::infinity();
  if (!finite || total < kTurboSmallest) {
    const uint8_t zero = bits == 8 ? uniform_code(0.0f)
                                   : table_code(kCodeTables[bits - 2], 0.0f);
    std::fill(codes.begin(), codes.end(), zero);
    return finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  std::array<Trial, 2> trials;
  Trial* best = &trials[0];
  if (bits == 8) {
    try_step(bits, rotated, 127.0f / peak_of(rotated), *best);
  } else {
    // The step that suits a normal variable, and steps around it: the one whose
    // levels point most nearly along the vector.
    const auto dim = static_cast<float>(rotated.size());
    const float usual = turbo_book(bits).scale / std::sqrt(total / dim);
    Trial* other = &trials[1];
    float quality = -1.0f;
    for (const float part : kTurboSteps) {
      try_step(bits, rotated, usual * part, *other);
      const float here = other->product / other->squares * other->product;
      if (here > quality) {
        quality = here;
        std::swap(best, other);
      }
    }
  }
  std::copy_n(best->codes.begin(), codes.size(), codes.begin());
  // With this norm the stored vector's product with the true one is the true
  // one's square: rounding to levels shrinks no score and no value on average.
  return total / best->product;
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
