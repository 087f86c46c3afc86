// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Converts one block image of a group from one phase to another. The heads of
// all its layers are independent, so the executor shares them out.
//
// Threads: one that may use the executor.

#pragma once

#include "holdfast/env/executor.h"
#include "holdfast/plan/conversion.h"
#include "holdfast/plan/group.h"

namespace holdfast {

/// Throws what a codec throws; the target is then undefined.
void convert_block(
    const LayerGroup& group,
    const BlockConversion& conversion,
    Executor& executor);

} // namespace holdfast
