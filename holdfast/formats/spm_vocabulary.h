// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A SentencePiece vocabulary as a model file stores it: what a Tokenizer is
// built from. Views only, which need to live until it is built (they may lie in
// a mapped file). Any thread.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/formats/token_id.h"

namespace holdfast {

struct SpmVocabulary {
  std::vector<std::string_view> pieces; // [V], spaces as U+2581
  std::span<const float> scores; // [V]; the highest merges first
  std::span<const int32_t> types; // [V] PieceType
  int64_t bos = kNoToken;
  int64_t eos = kNoToken;
  int64_t unknown = kNoToken;
  int64_t padding = kNoToken;
  bool add_bos = false; // encode() puts bos first where asked to add specials
  bool add_eos = false;
  bool add_space_prefix = false; // a space before each stretch of plain text
};

/// What a single piece or number gets wrong: sizes, types, scores, ids, byte
/// pieces. Equal pieces are found by whoever indexes them.
Status check_spm_vocabulary(const SpmVocabulary& vocabulary);

} // namespace holdfast
