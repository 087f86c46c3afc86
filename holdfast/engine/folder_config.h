// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model folder's config.json as settings, and what every family needs of
// them. Any thread.
//
// Errors: throws Error, one line that names the file and the setting.

#pragma once

#include <string>

#include "holdfast/models/model_config.h"
#include "holdfast/models/settings.h"

namespace holdfast {

/// A multimodal model's language part is its "text_config"; what that lacks
/// (tied embeddings, the family's name) stands beside it.
Settings read_folder_settings(const std::string& folder);
/// The same of a text; `where` stands for the file.
Settings parse_folder_settings(std::string_view json, const std::string& where);

/// The neutral fields, checked: sizes of at least 1, heads that group evenly.
ModelConfig folder_model_config(const Settings& settings);

} // namespace holdfast
