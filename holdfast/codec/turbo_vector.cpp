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

// The last level whose lower threshold is not above x. Thresholds are multiples
// of a half, so floor(2 x) decides.
uint8_t nearest_code(const TurboBook& book, float x) {
  const auto twice =
      static_cast<int>(std::clamp(std::floor(2.0f * x), -256.0f, 256.0f));
  const int count = 1 << book.bits;
  int code = 0;
  while (code + 1 < count &&
         twice >= book.levels[code] + book.levels[code + 1]) {
    ++code;
  }
  return static_cast<uint8_t>(code);
}

uint8_t code_of(int bits, float x) {
  if (bits == 8) {
    const float level = std::clamp(std::rint(x), -127.0f, 127.0f);
    return static_cast<uint8_t>(static_cast<int>(level) - kTurboUniformZero);
  }
  return nearest_code(turbo_book(bits), x);
}

// What a rotated element is multiplied by to be compared with the levels.
float step_of(int bits, std::span<const float> rotated, float squares) {
  if (bits == 8) {
    float largest = 0.0f;
    for (const float y : rotated) {
      largest = std::max(largest, std::abs(y));
    }
    return 127.0f / largest;
  }
  const auto dim = static_cast<float>(rotated.size());
  return turbo_book(bits).scale / std::sqrt(squares / dim);
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
    std::fill(codes.begin(), codes.end(), code_of(bits, 0.0f));
    return finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  const float step = step_of(bits, rotated, total);
  LaneSum products;
  for (size_t d = 0; d < rotated.size(); ++d) {
    codes[d] = code_of(bits, rotated[d] * step);
    const auto level = static_cast<float>(turbo_level(bits, codes[d]));
    products.add(d, rotated[d] * level);
  }
  // With this norm the stored vector's product with the true one is the true
  // one's square: rounding to levels shrinks no score and no value on average.
  return total / products.total();
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
