// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// deepseek-v2 (dense): attention over a latent a position. The matrices that
// expand a latent to keys and values of each head are applied to the queries
// and to the output instead, so that the latent alone is stored and read.
// mlx-lm's deepseek_v2, which expands, is the oracle. Reads model folders.
// Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws where tensors do not fit the settings, kUnsupported naming what the
/// settings ask for that is not here (experts, biases, scaled ropes).
std::unique_ptr<Model> make_latent(const WeightSource& source, Runtime runtime);

} // namespace holdfast
