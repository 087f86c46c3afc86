// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gemma3 (text): sliding layers with every sixth full, two rope bases, norms on
// queries and keys, norms before and after each half of a layer, tied output.
// Source: the family's published configuration; mlx-lm's gemma3_text is the
// oracle. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws where the source's tensors do not fit its configuration.
std::unique_ptr<Model> make_gemma3(const WeightSource& source, Runtime runtime);

} // namespace holdfast
