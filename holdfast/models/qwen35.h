// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// qwen3.5 (text, dense): layers of gated delta with a causal convolution, every
// n-th one full attention with gated output, norms on queries and keys and a
// partial rope; silu feed-forward. docs/recurrent.md has the recurrent layer's
// arithmetic; mlx-lm's qwen3_5 is the oracle. Reads model folders (settings and
// tensors by their published names). Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws where tensors do not fit the settings, kUnsupported naming what the
/// settings ask for that is not here (experts, attention biases, other ropes).
std::unique_ptr<Model> make_qwen35(const WeightSource& source, Runtime runtime);

} // namespace holdfast
