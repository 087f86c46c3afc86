// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// phi3 and phi4-mini: projections fused in the checkpoint, ropes that are
// stretched pair by pair ("longrope"), one window for all layers. Engine
// thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model> make_phi3(const WeightSource& source, Runtime runtime);

} // namespace holdfast
