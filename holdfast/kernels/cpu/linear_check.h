// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a linear job must be. Stateless; any thread.

#pragma once

#include "holdfast/kernels/cpu/linear.h"

namespace holdfast::cpu {

/// Throws kInvalidArgument on shapes that do not fit.
void check_job(const LinearJob& job);

} // namespace holdfast::cpu
