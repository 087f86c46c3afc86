// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tokenizer that a GGUF file's metadata holds, the keys under
// "tokenizer.ggml.": SentencePiece's BPE (model = "llama") or a byte-level BPE
// (model = "gpt2"). Any thread.

#pragma once

#include "holdfast/base/status.h"
#include "holdfast/formats/gguf.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// kCorrupt, kUnsupported: naming the file and the key. The tokenizer keeps
/// nothing of the file.
Result<Tokenizer> read_gguf_tokenizer(const GgufFile& file);

} // namespace holdfast
