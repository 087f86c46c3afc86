// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a team of threads can do at most, to measure kernels against: read
// pieces of memory, and multiply in registers alone. One thread calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "holdfast/env/cpu.h"
#include "holdfast/env/executor.h"

namespace holdfast::measure {

/// Reads each piece of `bytes` bytes once, pieces by turns of the team.
void read_pieces(
    std::span<std::byte* const> pieces,
    int64_t bytes,
    Executor& team);

/// Floating-point operations a second, of the team together, of the products
/// that a path's attention is made of, on registers that never change: bf16
/// tiles; f32 multiply-adds in 512, 256 or 128 bits; a product and a sum in
/// the words of plain C++. Some 6 ms, all threads awake. Throws kUnsupported
/// where the processor lacks them.
double register_rate(KernelPath path, Executor& team);

} // namespace holdfast::measure
