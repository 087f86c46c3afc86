// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The check of arrays that callers hand in. Private to state/. Any thread.

#pragma once

#include "mlx/array.h"

namespace holdfast {

/// Throws kInvalidArgument unless `array` is f32 of that shape. where: the call
/// that was made, "[Step::attend]"; what: the array in it.
void require_shape(
    const char* where,
    const char* what,
    const mlx::core::array& array,
    const mlx::core::Shape& shape);

} // namespace holdfast
