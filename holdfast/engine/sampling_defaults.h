// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a model's makers say that its texts are to be sampled: a folder's
// generation_config.json. Values; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/engine/sampling.h"

namespace holdfast {

/// What is not there is not said.
struct SamplingDefaults {
  std::optional<double> temperature; // 0 where do_sample is false
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> repeat_penalty; // repetition_penalty
};

/// Of the file's text, of 1 MiB at most. `where`: its path, for errors. Throws
/// Error (kCorrupt) naming file and field.
SamplingDefaults
parse_sampling_defaults(std::string_view json, const std::string& where);

} // namespace holdfast
