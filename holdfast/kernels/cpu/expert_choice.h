// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which experts a row goes through, and how much each counts. Stateless; any
// thread.

#pragma once

#include <span>
#include <vector>

#include "holdfast/env/cpu.h"
#include "holdfast/kernels/cpu/experts.h"

namespace holdfast::cpu {

struct ExpertShare {
  int64_t expert = 0;
  float weight = 0.0f;
};

/// The chosen of one row, in ascending order of the expert. A score that is not
/// a number makes all weights so.
std::vector<ExpertShare> choose_experts(
    std::span<const float> scores,
    int64_t top,
    Routing routing,
    KernelPath path);

} // namespace holdfast::cpu
