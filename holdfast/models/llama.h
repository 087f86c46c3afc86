// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// llama (2 and 3, and what is published as one) and mistral: every layer of a
// mistral with a "sliding_window" has it. Engine thread.

#pragma once

#include <memory>

#include "holdfast/models/model.h"

namespace holdfast {

/// Throws kUnsupported naming a setting that asks for what is not here.
std::unique_ptr<Model> make_llama(const WeightSource& source, Runtime runtime);
std::unique_ptr<Model>
make_mistral(const WeightSource& source, Runtime runtime);

} // namespace holdfast
