// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The weights of a llama-shaped model, layer by layer. One thread.

#pragma once

#include "holdfast/models/blocks.h"
#include "holdfast/models/decoder_shape.h"

namespace holdfast {

DecoderLayer load_decoder_layer(
    const WeightSource& source,
    const DecoderShape& shape,
    int64_t index);

/// A norm's weights as kernels take them.
std::vector<float> load_norm(
    const WeightSource& source,
    const DecoderShape& shape,
    const std::string& name,
    int64_t n);

} // namespace holdfast
