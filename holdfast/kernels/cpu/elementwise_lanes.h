// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The inner loops of elementwise.h, once per instruction set, behind a table of
// functions. All tables give the same bits. Immutable; any thread.

#pragma once

#include <cstdint>

namespace holdfast::cpu {

/// A head of `dim` values: normalised where weight is given, then its first
/// 2 * half values turned in pairs (i, i + half) by cos and sin [half].
struct HeadShape {
  int64_t dim = 0;
  int64_t half = 0;
  const float* weight = nullptr; // [dim] or null
  float eps = 0.0f;
  const float* cos = nullptr;
  const float* sin = nullptr;
};

enum class LaneFunction {
  kExp,
  kExpNonpositive,
  kTanh,
  kSigmoid,
  kSilu,
  kGelu
};

struct LaneTable {
  /// y = x * weight / sqrt(mean(x^2) + eps), `width` values; y may be x.
  void (*rms_norm)(
      const float* x,
      const float* weight,
      float eps,
      int64_t width,
      float* y);
  /// One head; y may not overlap x.
  void (*head)(const float* x, const HeadShape& shape, float* y);
  /// Sine and cosine of position * quarter_turns[i] * pi / 2. All arrays hold
  /// `count` values, a multiple of 16.
  void (*angles)(
      double position,
      const double* quarter_turns,
      int64_t count,
      float* cos,
      float* sin);
  /// y[i] = function(x[i]).
  void (*map)(LaneFunction function, const float* x, int64_t count, float* y);
};

const LaneTable& plain_lanes();
/// Only where kAvx2 or kNeon runs.
const LaneTable& vec256_lanes();
/// Only where the processor is x86-64.
const LaneTable& avx512_lanes();

} // namespace holdfast::cpu
