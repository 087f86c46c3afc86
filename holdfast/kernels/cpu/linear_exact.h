// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The part of linear() for weights of exact products (Weight::exact): all of
// its arithmetic but the scaling is in whole numbers. Threads: as linear().

#pragma once

#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/linear.h"
#include "holdfast/kernels/cpu/linear_kernels.h"

namespace holdfast::cpu {

/// job: one exact weight, no gate, no post norm; m >= 0. linear() checks.
void linear_exact(
    const LinearJob& job,
    Executor& executor,
    const ExactKernels& kernels);

} // namespace holdfast::cpu
