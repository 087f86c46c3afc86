// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The model that llama and its relatives are: per layer a norm, attention with
// rope, a norm and a gated feed-forward half. What differs between families is
// data (decoder_shape.h). Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/decoder_shape.h"
#include "holdfast/models/model.h"

namespace holdfast {

/// Loads tensors under the names of published checkpoints.
std::unique_ptr<Model>
make_decoder(const WeightSource& source, Runtime runtime, DecoderShape shape);

} // namespace holdfast
