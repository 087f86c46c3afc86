// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// gemma4 (text, dense): sliding and full layers with heads of different size,
// the last layers over the keys and values of earlier ones, an embedding a
// layer beside the first, tied and soft-capped output. mlx-lm's gemma4_text is
// the oracle. Reads model folders. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws where tensors do not fit the settings, kUnsupported naming what the
/// settings ask for that is not here (experts, other ropes).
std::unique_ptr<Model> make_gemma4(const WeightSource& source, Runtime runtime);

} // namespace holdfast
