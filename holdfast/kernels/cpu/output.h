// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Memory for the outputs of our primitives: 64-byte aligned (MLX's own CPU
// arrays start 8 bytes past a line) and recycled, so that a step of the same
// shape as the last one touches no new pages.
// Threads: any.

#pragma once

#include "mlx/array.h"
#include "mlx/stream.h"

namespace holdfast::cpu {

/// Gives `out` memory for its shape and dtype, row-contiguous.
void allocate_output(mlx::core::array& out);

/// Throws kInvalidArgument unless the evaluated `array` is row-contiguous.
/// `where` names the caller.
void require_contiguous(const mlx::core::array& array, const char* where);
/// The same, and for other than f32.
void require_f32(const mlx::core::array& array, const char* where);
/// The evaluated `array`, or what the stream copies of one that is strided,
/// which lives until its tasks so far are done. Throws kInvalidArgument for
/// other than f32. Engine thread.
mlx::core::array contiguous_f32(
    const mlx::core::array& array,
    const char* where,
    mlx::core::Stream stream);

} // namespace holdfast::cpu
