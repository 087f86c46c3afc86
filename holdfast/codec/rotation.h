// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The rotation of the turbo codecs: seeded sign flips and a fast Hadamard
// transform over a head. It spreads a few large elements over all, so that
// each looks normal to a code book. Orthogonal up to rounding: queries are
// rotated once, keys stay rotated; attended values are rotated back once.
//
// One fixed order of f32 additions, so that every implementation gives the
// same bits (docs/codecs.md). Pure functions; any thread; nothing allocates.

#pragma once

#include <span>

#include "holdfast/codec/rotation_layout.h"

namespace holdfast {

/// In place. vector: [head_dim]. Throws kInvalidArgument unless can_rotate().
void rotate(std::span<float> vector);
/// The inverse, up to rounding.
void unrotate(std::span<float> vector);

} // namespace holdfast
