// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tokenizer.model: SentencePiece's own file, a protobuf message
// (sentencepiece_model.proto). BPE without a normalizer is read, as Llama 2,
// Mistral and Gemma have it. Any thread.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/added_tokens.h"
#include "holdfast/formats/tokenizer.h"
#include "holdfast/formats/tokenizer_json.h"

namespace holdfast {

/// added: tokens of other files, with the ids that follow the vocabulary's, or
/// those of its own pieces. kCorrupt where the bytes contradict themselves or
/// the names, kUnsupported for what is not read (unigram, a normalizer); each
/// names `file` and the field.
Result<Tokenizer> read_tokenizer_model(
    std::string_view bytes,
    const std::string& file,
    const TokenizerNames& names = {},
    const std::vector<AddedToken>& added = {});

} // namespace holdfast
