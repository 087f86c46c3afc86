// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of a path and of a weight format. Stateless; any thread.

#pragma once

#include "holdfast/env/cpu.h"
#include "holdfast/kernels/cpu/linear_kernels.h"
#include "holdfast/kernels/cpu/weight.h"

namespace holdfast::cpu {

/// Throws kUnsupported where this processor lacks the path.
const LinearKernels& linear_kernels(KernelPath path);

const ProductKernels&
products_of(const LinearKernels& kernels, const WeightFormat& format);

} // namespace holdfast::cpu
