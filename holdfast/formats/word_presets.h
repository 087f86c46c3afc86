// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The pre-tokenizers that a GGUF file names instead of describing: what
// tokenizer.ggml.pre stands for. Any thread.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/formats/bpe_spec.h"

namespace holdfast {

/// GPT-2's pattern, which the ByteLevel of a tokenizer.json brings along.
extern const char* const kGpt2Words;

/// Fills the normalizers, the words, the decoder and `whole_words`, and what
/// add_bos is where a file does not say. False for a name that is not known.
bool apply_word_preset(std::string_view name, BpeSpec& spec);

/// All names, for an error's text.
std::string word_preset_names();

} // namespace holdfast
