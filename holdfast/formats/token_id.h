// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What every vocabulary has: ids, and the kinds of pieces. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// Longer ones are refused where they would be searched for in text (user
/// defined, control, unknown): it bounds the time that a place can cost.
inline constexpr size_t kMaxSearchedPieceBytes = 1024;

/// U+2581, which stands for a space inside pieces.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// 0 to 255 for "<0x00>" to "<0xFF>", else -1.
int byte_of_piece(std::string_view piece);

/// Appends `text` with each of `from` as `to`.
void append_replaced(
    std::string_view text,
    std::string_view from,
    std::string_view to,
    std::string& result);

} // namespace holdfast
