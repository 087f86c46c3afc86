// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A family's rope out of its settings: base and scaling as model configurations
// name them ("rope_theta", "rope_scaling.*", or both in "rope_parameters.*").
//
// Scaling is of the model, not of a text: a position turns by the same angles
// in every text, whatever its length. So "dynamic", whose base follows the
// length, is refused, and "longrope" takes its long factors throughout.
//
// Errors: kUnsupported naming the setting for a scaling that is not here,
// kCorrupt for one that is wrong. One thread.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/kernels/cpu/elementwise.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

/// Over the first `dims` elements of a head. theta: where no setting says.
cpu::Rope read_rope(const WeightSource& source, int64_t dims, double theta);
/// That of a kind of layers: "rope_parameters.<layers>.*".
cpu::Rope read_rope_of(
    const WeightSource& source,
    int64_t dims,
    double theta,
    const std::string& layers);

/// The elements of a head that turn: the part "partial_rotary_factor" of them,
/// or `otherwise`.
int64_t rope_dims(const WeightSource& source, double otherwise = 1.0);

/// A base that is stated under this name. Throws kCorrupt unless it is above 1
/// and at most 1e30.
float rope_base(
    const Settings& settings,
    const std::string& name,
    double otherwise);

} // namespace holdfast
