// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The rotation of the turbo codecs as numbers: which elements a pass covers,
// its signs and its scale. Codecs and kernels agree through this file alone;
// docs/codecs.md has the arithmetic. Pure functions; any thread.
//
// A head of D elements takes one pass over all of them where D is a power of
// two; else one over the first P elements and one over the last P, where P is
// the largest power of two below D. As 2 P > D, the passes overlap.

#pragma once

#include <bit>
#include <cstdint>

namespace holdfast {

/// Head sizes that can be rotated: multiples of 16 in [32, 512].
inline constexpr int64_t kRotationDimStep = 16;
inline constexpr int64_t kRotationMinDim = 32;
inline constexpr int64_t kRotationMaxDim = 512;
inline constexpr uint64_t kRotationSeed = 1;

constexpr bool can_rotate(int64_t dim) {
  return dim >= kRotationMinDim && dim <= kRotationMaxDim &&
      dim % kRotationDimStep == 0;
}

/// P: the elements of a pass.
constexpr int64_t rotation_width(int64_t dim) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(dim)));
}
constexpr int rotation_passes(int64_t dim) {
  return rotation_width(dim) == dim ? 1 : 2;
}
/// The first element of pass 0 or 1.
constexpr int64_t rotation_offset(int64_t dim, int pass) {
  return pass == 0 ? 0 : dim - rotation_width(dim);
}

/// 1 / sqrt(P), rounded to f32.
constexpr float rotation_scale(int64_t width) {
  return width == 32 ? 0.176776695f
      : width == 64  ? 0.125f
      : width == 128 ? 0.0883883476f
      : width == 256 ? 0.0625f
                     : 0.0441941738f;
}

/// Signs of elements 64 * word ... of a pass, one a bit, lowest first; a set
/// bit means minus. Word w of pass p is output number 8 p + w of SplitMix64
/// (Steele, Lea, Flood 2014) from kRotationSeed.
constexpr uint64_t rotation_sign_word(int pass, int64_t word) {
  const auto number = static_cast<uint64_t>(8 * pass + word);
  uint64_t z = kRotationSeed + (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// Whether element i of a pass changes its sign.
constexpr bool rotation_negates(int pass, int64_t i) {
  return (rotation_sign_word(pass, i / 64) >> (i % 64) & 1) != 0;
}

} // namespace holdfast
