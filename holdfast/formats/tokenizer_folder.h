// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tokenizer of a model folder as hubs hold it, and what else of text the
// folder says: tokenizer.json (else tokenizer.model), tokenizer_config.json,
// special_tokens_map.json, added_tokens.json (beside tokenizer.model),
// generation_config.json (else config.json), chat_template.jinja. Files of
// these names alone are opened, none through a name that a file says. Errors
// name the file and the field. Any thread.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

struct FolderTokenizer {
  Tokenizer tokenizer;
  std::vector<TokenId> end_ids = {}; // that end a text, each once
  std::string chat_template = {}; // Jinja; empty: none
  /// The bytes of generation_config.json, which says more than how texts end.
  std::optional<std::string> generation = {};
};

/// kNotFound where there is no tokenizer, kIo where a file cannot be read,
/// kCorrupt where one contradicts itself or another, kUnsupported for what
/// nothing here does.
Result<FolderTokenizer> read_tokenizer_folder(const std::string& folder);

} // namespace holdfast
