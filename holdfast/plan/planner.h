// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Builds the StepPlan of a step: where each token of the ragged input belongs.
// Pure functions; any thread that may read the chains.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/plan/chains.h"
#include "holdfast/plan/step_plan.h"
#include "holdfast/rows/batch.h"

namespace holdfast {

/// A row's images of one group, as RowBlocks holds them: null where released.
/// Those of sealed blocks are only read.
std::vector<std::byte*> images_of(std::span<const BlockRef> blocks);

/// The plan of a step whose places were made: each row's chain has written -
/// committed == count. Tokens follow the order of `appends`.
StepPlan make_step_plan(
    const Chains& chains,
    std::span<const RowAppend> appends,
    uint64_t generation);

/// The rows one a phase, as StepPlan::mixed wants them. blocks: [row].
std::vector<PhaseRows> by_phase(
    const std::vector<RowSpan>& rows,
    const std::vector<RowBlocks>& blocks);

} // namespace holdfast
