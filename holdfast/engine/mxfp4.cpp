// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/engine/mxfp4.h"

#include <cmath>
#include <limits>

namespace holdfast {

namespace {

// Twice the value of each code, plus 16.
constexpr uint8_t kCodes[16] =
    {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

float half_scale(std::byte exponent) {
  const int value = static_cast<int>(exponent);
  return value == 255 ? std::numeric_limits<float>::quiet_NaN()
                      : std::ldexp(1.0f, value - 128);
}

} // namespace

void read_mxfp4(
    const std::byte* codes,
    const std::byte* exponents,
    int64_t k,
    const cpu::CodeRow& out) {
  for (int64_t i = 0; i < k / 2; ++i) {
    const auto both = static_cast<uint8_t>(codes[i]);
    out.codes[2 * i] = kCodes[both & 15];
    out.codes[2 * i + 1] = kCodes[both >> 4];
  }
  for (int64_t g = 0; g < k / kMxfp4Group; ++g) {
    out.scales[g] = half_scale(exponents[g]);
  }
}

} // namespace holdfast
