// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a gated-delta layer has learned, in the recurrent kernels' order.
// Immutable; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/plan/recurrent_spec.h"

namespace holdfast::cpu {

struct GatedDelta {
  RecurrentSpec spec;
  std::vector<float> conv; // [key_heads][taps][head_width], oldest tap first
  std::vector<double> rate; // [value_heads]: exp(A_log)
  std::vector<double> bias; // [value_heads]: of the time step
  std::vector<float> norm; // [value_dim]
  float eps = 1e-6f; // of the output norm

  /// conv: [channels][taps] in the order of the input's columns; a_log, bias:
  /// [value_heads]; norm: [value_dim]. Throws kInvalidArgument on other sizes.
  static GatedDelta make(
      const RecurrentSpec& spec,
      std::span<const float> conv,
      std::span<const float> a_log,
      std::span<const float> bias,
      std::span<const float> norm);
};

} // namespace holdfast::cpu
