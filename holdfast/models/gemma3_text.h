// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gemma3 (text) out of a model folder, under the names of its published
// checkpoints; gemma3.h is the same model out of a GGUF file. Sliding layers,
// every sixth full, each kind with a rope of its own. mlx-lm's gemma3_text is
// the oracle. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model>
make_gemma3_text(const WeightSource& source, Runtime runtime);

} // namespace holdfast
