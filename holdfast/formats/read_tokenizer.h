// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The tokenizer at a path, whatever holds it: a model folder, a tokenizer.json
// or tokenizer.model (by the ends of their names), else a GGUF file. Any
// thread.

#pragma once

#include <string>

#include "holdfast/base/status.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// Errors: those of the reader; each names the file.
Result<Tokenizer> read_tokenizer(const std::string& path);

/// All bytes of a file of at most 512 MiB. kNotFound, kIo; kUnsupported for a
/// larger one.
Result<std::string> read_text_file(const std::string& path);

} // namespace holdfast
