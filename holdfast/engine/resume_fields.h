// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What decides a text besides its tokens, as named fields: a generation goes on
// under the same ones or not at all. Values; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "holdfast/engine/sequence.h"
#include "holdfast/formats/resume_point.h"
#include "holdfast/state/signature.h"

namespace holdfast {

/// The options of the rules, then the signature of the state.
std::vector<ResumePoint::Field>
resume_fields(const SequenceRules& rules, const Signature& signature);

/// Throws kUnsupported naming the first field, or the prompt, in which a run
/// differs from the one that left the point.
void require_same_run(
    const ResumePoint& point,
    const std::vector<ResumePoint::Field>& fields,
    std::span<const std::vector<int32_t>> prompts);

} // namespace holdfast
