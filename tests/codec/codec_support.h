// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What tests of codecs share: the planes of a head, random vectors, and how far
// a decoded vector may lie from its source.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "holdfast/codec/codec.h"
#include "holdfast/codec/rotation.h"
#include "holdfast/codec/turbo_vector.h"
#include "holdfast/codec/vector_loops.h"
#include "tests/random_values.h"

namespace holdfast {

inline constexpr ChannelRole kRoles[] = {
    ChannelRole::kKeys,
    ChannelRole::kValues};

/// One head's planes, all bytes `fill`.
struct Head {
  Head(const Codec& codec, ChannelRole role, int64_t dim, int fill) {
    for (const PlaneSpec& plane : codec.planes(role, dim)) {
      bytes.emplace_back(plane.bytes.get(), std::byte(fill));
    }
    for (auto& plane : bytes) {
      pointers.push_back(plane.data());
    }
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  std::span<const std::byte* const> read() const {
    return {
        const_cast<const std::byte* const*>(pointers.data()), pointers.size()};
  }
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::byte*> pointers;
};

using test::random_values;

/// One group, one vector: what codecs do with many.
inline AffineScale affine_encode(
    int bits,
    const std::vector<float>& group,
    std::vector<uint8_t>& codes) {
  const int64_t count = std::ssize(group);
  AffineScale scale;
  vector_loops().affine_encode(
      {bits, count},
      {.vectors = group.data(),
       .count = 1,
       .dim = count,
       .codes = codes.data()},
      &scale);
  return scale;
}
inline float turbo_encode(
    int bits,
    const std::vector<float>& vector,
    std::vector<uint8_t>& codes) {
  float norm = 0.0f;
  vector_loops().turbo_encode(
      bits,
      {.vectors = vector.data(),
       .count = 1,
       .dim = std::ssize(vector),
       .codes = codes.data()},
      &norm);
  return norm;
}

/// What comes back after one token went through slot `slot`.
inline std::vector<float> through(
    const Codec& codec,
    ChannelRole role,
    const std::vector<float>& x,
    int64_t slot = 0) {
  Head head(codec, role, static_cast<int64_t>(x.size()), 0x5a);
  codec.encode(role, x, slot, head.pointers);
  std::vector<float> y(x.size());
  codec.decode(role, head.read(), slot, y);
  return y;
}

inline double squares(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float v : x) {
    sum += double(v) * v;
  }
  return sum;
}
inline double
squared_distance(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0.0;
  for (size_t d = 0; d < x.size(); ++d) {
    sum += (double(x[d]) - y[d]) * (double(x[d]) - y[d]);
  }
  return sum;
}

/// docs/codecs.md, affine: a step, the rounding of elements to bf16, and that
/// of the scale, which the largest code multiplies.
inline double affine_bound(const CodecForm& form, std::span<const float> x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const double range = double(*high) - *low;
  const double top = (1 << form.bits) - 1;
  const double step = std::max(range / top, 1e-7);
  const double largest = std::max(std::abs(*low), std::abs(*high));
  if (form.format == DenseFormat::kF16) {
    return step + 0x1p-8 * largest + 0x1p-10 * range + (top + 1) * 0x1p-24;
  }
  return step + 0x1p-8 * (range + largest);
}

/// The mean squared error of a turbo codec with a table on normal numbers, as a
/// part of their variance: the table's, where the norm undoes the shrinkage.
inline double turbo_error(int bits) {
  const double distortion = turbo_book(bits).distortion;
  return distortion / (1.0 - distortion);
}

/// docs/codecs.md, turbo: how far the decoded vector may lie from x.
inline double turbo_bound(int bits, std::vector<float> x) {
  const double size = std::sqrt(squares(x));
  rotate(x);
  const double rms = size / std::sqrt(double(x.size()));
  double top = 127.0;
  double half_gap = 0.5;
  double unit = top; // levels that the root mean square, or the peak, takes
  if (bits == 8) {
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    unit *= rms / std::max(-*low, *high);
  } else {
    const TurboBook& book = turbo_book(bits);
    const int last = (1 << bits) - 1;
    top = book.levels[last];
    half_gap = (top - book.levels[last - 1]) / 2.0;
    unit = book.scale;
  }
  double sum = 0.0;
  for (const float y : x) {
    const double off = std::max(half_gap, std::abs(y) / rms * unit - top);
    sum += off * off;
  }
  const double part = sum / (unit * unit) / double(x.size());
  return (std::sqrt(part / (1.0 - part)) + 0x1p-8) * size;
}

/// Fails where y is not what a codec of that form may make of x.
inline void expect_close(
    const Codec& codec,
    const std::vector<float>& x,
    const std::vector<float>& y) {
  const CodecForm form = codec.form();
  if (form.kind == CodecKind::kTurbo) {
    ASSERT_LE(std::sqrt(squared_distance(x, y)), turbo_bound(form.bits, x))
        << codec.name();
    return;
  }
  for (size_t d = 0; d < x.size(); ++d) {
    double bound = 0x1p-8 * std::abs(x[d]);
    if (form.kind == CodecKind::kAffine) {
      const size_t first = d / form.group * form.group;
      bound = affine_bound(form, std::span(x).subspan(first, form.group));
    }
    ASSERT_NEAR(y[d], x[d], bound) << codec.name() << " element " << d;
  }
}

} // namespace holdfast
