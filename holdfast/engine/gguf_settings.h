// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The settings of a family out of GGUF's metadata, under the names that a
// published config.json has for them. Errors: those of GgufFile. Any thread.

#pragma once

#include "holdfast/formats/gguf.h"
#include "holdfast/models/settings.h"

namespace holdfast {

struct ModelConfig;

/// Of a file whose architecture gguf_family() knows; `config` is what was read
/// of it.
Settings gguf_settings(const GgufFile& file, const ModelConfig& config);

} // namespace holdfast
