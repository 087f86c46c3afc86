// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tokens that end a text of a GGUF model: those that keys name, and the
// control pieces that families end a turn with, which few files name (phi3's
// "<|end|>"). Stateless; any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/formats/gguf.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// Each once. Errors: those of GgufFile, and its refusal of an id that is none.
std::vector<int32_t>
gguf_ends(const GgufFile& file, const Tokenizer& tokenizer);

} // namespace holdfast
