// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gemma2: soft caps of scores and logits, norms before and behind both halves
// of a layer, every other layer sliding. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model> make_gemma2(const WeightSource& source, Runtime runtime);

} // namespace holdfast
