// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of a tokenizer.json around its vocabulary: normalizers,
// pre-tokenizers, decoders. Functions throw Error that names the field:
// kCorrupt for what is malformed, kUnsupported for what is not read.

#pragma once

#include "holdfast/formats/bpe_spec.h"
#include "holdfast/formats/json_field.h"

namespace holdfast {

/// Fills spec.normalizers.
void read_normalizers(const JsonField& field, BpeSpec& spec);

/// Fills spec.prefixes, spec.words and spec.byte_level.
void read_pre_tokenizers(const JsonField& field, BpeSpec& spec);

/// Fills spec.decoder and spec.strip_first_space; reads spec.byte_level and
/// spec.byte_fallback.
void read_decoders(const JsonField& field, BpeSpec& spec);

} // namespace holdfast
