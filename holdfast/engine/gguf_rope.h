// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a GGUF file says of its ropes, by keys and by the tensors it holds,
// under the names that a published config.json has for it: "rope_theta" and
// "rope_scaling.*". Stateless; any thread.
//
// Errors: those of GgufFile, and its refusal for a scaling that is not here.

#pragma once

#include <string>

#include "holdfast/engine/json_settings.h"
#include "holdfast/formats/gguf.h"
#include "holdfast/models/weight_source.h"

namespace holdfast {

/// How positions are scaled, as the file says it or leaves it to be known.
struct GgufScaling {
  std::string type = "none"; // none, linear, yarn, longrope, or another's
  double factor = 1.0;
};

/// prefix: "<architecture>.". A file without a type is scaled evenly by its
/// factor, or by its tensors of long factors where it has them. An even scaling
/// without a factor, or by 0, is none.
GgufScaling gguf_scaling(const GgufFile& file, const std::string& prefix);

/// Adds the settings. config: what was read of the file.
void add_gguf_rope(
    const GgufFile& file,
    const std::string& prefix,
    const ModelConfig& config,
    SettingValues& values);

} // namespace holdfast
