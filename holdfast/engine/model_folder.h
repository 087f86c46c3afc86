// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A model in a folder as on model hubs, without its weights: tokenizer, chat
// template, sampling defaults, and which of its files decide bits: config.json,
// those of its tokenizer, and those of its tensors. One thread.
//
// Errors: throws Error, one line that names the file.

#pragma once

#include <string>

#include "holdfast/engine/folder_weights.h"
#include "holdfast/engine/load.h"

namespace holdfast {

bool is_model_folder(const std::string& path);

/// All but the files of tensors.
ModelFile open_model_folder(const std::string& folder);

/// Those too, as `weights` has them mapped.
void add_tensor_files(const FolderWeights& weights, ModelFile& model);

} // namespace holdfast
