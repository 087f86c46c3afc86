// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// qwen3 with a mixture of experts in all layers or some. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model>
make_qwen3_moe(const WeightSource& source, Runtime runtime);

} // namespace holdfast
