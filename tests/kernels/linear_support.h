// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Random weights with their source values, and an exact model of the rounding
// that the packed formats define, written apart from the kernels.

#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "holdfast/base/bits.h"
#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/linear.h"
#include "holdfast/kernels/cpu/weight.h"

namespace holdfast::cpu::test {

using Kind = WeightFormat::Kind;

inline std::string text(const WeightFormat& f) {
  switch (f.kind) {
    case Kind::kF32:
      return "f32";
    case Kind::kBf16:
      return "bf16";
    case Kind::kCodes:
      break;
  }
  return std::to_string(f.bits) + "bit_g" + std::to_string(f.group) +
      (f.offsets ? "_offsets" : "");
}

/// x rounded to `bits` significand bits, but never finer than 2^least; halves
/// to even, or away from zero.
inline double rounded(double x, int bits, int least, bool halves_away) {
  if (x == 0.0) {
    return x;
  }
  const int unit = std::max(std::ilogb(x) + 1 - bits, least);
  const double scaled = std::ldexp(x, -unit);
  const double whole =
      halves_away ? std::round(scaled) : std::nearbyint(scaled);
  return std::ldexp(whole, unit);
}

struct Source {
  WeightFormat format;
  int64_t n = 0;
  int64_t k = 0;
  std::vector<uint8_t> codes = {};
  std::vector<float> scales = {}, offsets = {}, values = {};

  static Source
  random(const WeightFormat& format, int64_t n, int64_t k, uint64_t seed) {
    Source s{.format = format, .n = n, .k = k};
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal(0.0f, 0.05f);
    if (format.kind != Kind::kCodes) {
      for (int64_t i = 0; i < n * k; ++i) {
        s.values.push_back(normal(random));
      }
      return s;
    }
    const uint32_t codes = 1u << format.bits;
    std::uniform_real_distribution<float> spread(-6.0f, 0.0f);
    for (int64_t i = 0; i < n * k; ++i) {
      s.codes.push_back(static_cast<uint8_t>(random() % codes));
    }
    for (int64_t i = 0; i < n * k / format.group; ++i) {
      const float scale = std::exp2(spread(random)) / static_cast<float>(codes);
      s.scales.push_back(random() % 2 ? scale : -scale);
      s.offsets.push_back(normal(random));
    }
    return s;
  }

  Weight pack(Executor& executor) const {
    if (format.kind != Kind::kCodes) {
      return Weight::pack_values(
          format.kind,
          n,
          k,
          [&](int64_t row, float* out) {
            std::copy_n(values.data() + row * k, k, out);
          },
          executor);
    }
    const int64_t groups = k / format.group;
    return Weight::pack_codes(
        format,
        n,
        k,
        [&](int64_t row, const CodeRow& out) {
          std::copy_n(codes.data() + row * k, k, out.codes);
          std::copy_n(scales.data() + row * groups, groups, out.scales);
          if (format.offsets) {
            std::copy_n(offsets.data() + row * groups, groups, out.offsets);
          }
        },
        executor);
  }

  /// Scale and offset of a weight, with their parts of it.
  double scaled(int64_t row, int64_t i) const {
    return static_cast<double>(scale(row, i)) * codes[at(row, i)];
  }
  double offset(int64_t row, int64_t i) const {
    return format.offsets
        ? static_cast<double>(offsets[group(row, i)])
        : -static_cast<double>(scale(row, i)) * (1 << (format.bits - 1));
  }
  float scale(int64_t row, int64_t i) const {
    return scales[group(row, i)];
  }
  size_t at(int64_t row, int64_t i) const {
    return static_cast<size_t>(row * k + i);
  }
  size_t group(int64_t row, int64_t i) const {
    return static_cast<size_t>((row * k + i) / format.group);
  }

  /// The source's own value.
  double value(int64_t row, int64_t i) const {
    return format.kind == Kind::kCodes ? scaled(row, i) + offset(row, i)
                                       : values[at(row, i)];
  }

  /// The power of two that a panel's scales are stored by.
  int exponent(int64_t row) const {
    double most = 0.0;
    const int64_t first = row / 64 * 64;
    for (int64_t r = first; r < std::min(first + 64, n); ++r) {
      for (int64_t i = 0; i < k; i += format.group) {
        const double code =
            format.offsets ? (1 << format.bits) - 1 : 1 << (format.bits - 1);
        const double part = format.offsets ? std::fabs(offset(r, i)) : 0.0;
        most = std::max(most, std::fabs(scale(r, i)) * code + part);
      }
    }
    return most > 0.0 ? std::ilogb(static_cast<float>(most)) - 14 : 0;
  }

  /// What the kernels multiply by.
  double used(int64_t row, int64_t i, int exponent) const {
    switch (format.kind) {
      case Kind::kF32:
        return values[at(row, i)];
      case Kind::kBf16:
        return rounded(values[at(row, i)], 8, -200, false);
      case Kind::kCodes:
        break;
    }
    const double unit = std::ldexp(1.0, -exponent);
    const double s = rounded(scale(row, i) * unit, 11, -24, false);
    const double o = format.offsets
        ? rounded(offset(row, i) * unit, 11, -24, false)
        : -s * (1 << (format.bits - 1));
    const double h = rounded(s * codes[at(row, i)] + o, 11, -24, false);
    const double w = rounded(h, 8, -21, true);
    return std::fabs(w) < 0x1p-14 ? 0.0 : std::ldexp(w, exponent);
  }
};

inline std::vector<float> random_values(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(normal(random));
  }
  return values;
}

} // namespace holdfast::cpu::test
