// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// qwen2 (queries, keys and values with biases) and qwen3 (dense; queries and
// keys normed per head). Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/decoder_shape.h"
#include "holdfast/models/model.h"

namespace holdfast {

/// What the dense and the mixed qwen3 have in common.
DecoderShape qwen3_shape(const WeightSource& source);

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model> make_qwen2(const WeightSource& source, Runtime runtime);
std::unique_ptr<Model> make_qwen3(const WeightSource& source, Runtime runtime);

} // namespace holdfast
