// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Encodes a step's keys and values into its rows' open blocks: the bytes that
// the codecs' encode() writes. Called on one thread; works on the team.

#pragma once

#include "holdfast/env/executor.h"
#include "holdfast/kernels/cpu/attend_unit.h"

namespace holdfast::cpu {

void append_rows(const AttendContext& context, Executor& executor);

} // namespace holdfast::cpu
