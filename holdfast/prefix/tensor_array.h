// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Tensors between MLX and stored objects. Private to prefix/. Any thread; what
// is evaluated is evaluated on the caller's.

#pragma once

#include "mlx/array.h"
#include "mlx/utils.h"

#include "holdfast/base/status.h"
#include "holdfast/objects/object.h"
#include "holdfast/objects/tensor_format.h"

namespace holdfast {

TensorFacts facts_of(const mlx::core::array& array);

/// The array's elements, evaluated and row-major: into `elements`, which has as
/// many bytes.
void copy_elements(
    const mlx::core::array& array,
    std::span<std::byte> elements,
    mlx::core::StreamOrDevice stream);

/// A tensor's object as an array that reads its bytes in place and keeps them
/// alive; a copy where MLX's default device has memory of its own. kCorrupt,
/// kUnsupported where it is none, or of a file that was cut short by now.
Result<mlx::core::array> array_over(const Object& object);

} // namespace holdfast
