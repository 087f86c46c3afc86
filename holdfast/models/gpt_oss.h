// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gpt-oss: a learned sink a query head, every other layer sliding, biases
// everywhere, and experts with a clamped swiglu in all layers. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model>
make_gpt_oss(const WeightSource& source, Runtime runtime);

} // namespace holdfast
