// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A vocabulary with a list of merges, and all that is done to text around it,
// as files say it: what a BpeModel is built from. Two kinds: byte-level, whose
// pieces are written in the byte alphabet, and with byte fallback, whose pieces
// are text with space marks. Views need to live until it is built. Any thread.

#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/formats/added_tokens.h"
#include "holdfast/formats/text_steps.h"
#include "holdfast/formats/token_model.h"
#include "holdfast/formats/word_split.h"

namespace holdfast {

/// How pieces become text again.
enum class BpeDecoder {
  kBytes, // out of the byte alphabet
  kMarks, // space marks become spaces, byte pieces bytes
  kMetaspace, // space marks become spaces; there are no byte pieces
};

struct BpeSpec {
  std::vector<std::string_view> pieces; // [V] as stored; empty: no such id
  std::vector<PieceType> types; // [V]
  std::vector<std::pair<std::string_view, std::string_view>> merges; // by rank
  std::vector<AddedToken> added; // among the pieces
  SpecialIds special;

  TextSteps normalizers; // added tokens that are normalized see these alone
  TextSteps prefixes; // of each stretch of plain text
  std::vector<WordStep> words;
  BpeDecoder decoder = BpeDecoder::kBytes;
  /// kMarks: the space that a text begins with goes. kMetaspace: all marks of
  /// the first piece go.
  bool strip_first_space = false;

  bool byte_level = false;
  bool byte_fallback = false;
  bool fuse_unknown = false; // a run without pieces becomes one unknown
  bool whole_words = false; // a word that is a piece is not merged
};

} // namespace holdfast
