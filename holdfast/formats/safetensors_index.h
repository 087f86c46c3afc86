// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// model.safetensors.index.json: which of a folder's files holds which tensor,
// {"metadata": {...}, "weight_map": {"TENSOR": "FILE", ...}}. Other keys are
// skipped. Files are named as they stand; whether they lie in the folder is for
// file_in_folder() to say. Values; any thread.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "holdfast/base/status.h"

namespace holdfast {

inline constexpr const char* kSafetensorsIndex = "model.safetensors.index.json";

/// The file of each tensor.
using SafetensorsIndex = std::map<std::string, std::string, std::less<>>;

/// kCorrupt, in one line that names `file`: no JSON, no weight_map, a tensor
/// twice, something else than a text.
Result<SafetensorsIndex>
parse_safetensors_index(std::string_view json, std::string_view file);

} // namespace holdfast
