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

namespace holdfast {

using TokenId = int32_t;
inline constexpr TokenId kNoToken = -1;

/// The numbers are those of SentencePiece's model proto and of GGUF.
enum class PieceType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3, // never made from text, unless asked for
  kUserDefined = 4, // cut out of text before anything is merged
  kUnused = 5, // may appear while merging, taken apart afterwards
  kByte = 6, // "<0x00>" to "<0xFF>": what no piece covers
};

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

/// Longer ones are refused where they would be searched for in text (user
/// defined, control, unknown): it bounds the time that a place can cost.
inline constexpr size_t kMaxSearchedPieceBytes = 1024;

/// U+2581, which stands for a space inside pieces.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// 0 to 255 for "<0x00>" to "<0xFF>", else -1.
int spm_byte_of(std::string_view piece);

/// What a single piece or number gets wrong: sizes, types, scores, ids, byte
/// pieces. Equal pieces are found by whoever indexes them.
Status check_spm_vocabulary(const SpmVocabulary& vocabulary);

} // namespace holdfast
