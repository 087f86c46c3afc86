// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A tokenizer.json, as the hubs' tokenizers library writes it: BPE, byte-level
// or with byte fallback (docs/tokenizer.md says what of it is read). What
// encoding and decoding depend on is read or refused, never passed by. Any
// thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/base/status.h"
#include "holdfast/formats/tokenizer.h"

namespace holdfast {

/// What other files of a model say of its tokenizer.
struct TokenizerNames {
  std::optional<std::string> bos = {}; // pieces
  std::optional<std::string> eos = {};
  std::optional<std::string> padding = {};
  std::optional<bool> add_bos = {}; // none: as the post-processor says
  std::optional<bool> add_eos = {};
  std::string file = {}; // that says so
  std::string added = {}; // "FILE: FIELD" of what adds pieces; empty: none
};

/// kCorrupt where the bytes contradict themselves or the names, kUnsupported
/// for what is not read; each names `file` and the field.
Result<Tokenizer> read_tokenizer_json(
    std::string_view bytes,
    const std::string& file,
    const TokenizerNames& names = {});

} // namespace holdfast
