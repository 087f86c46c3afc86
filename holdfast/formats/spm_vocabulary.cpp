// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/spm_vocabulary.h"

#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace holdfast {
namespace {

/// `field` is what a GGUF file calls it, behind "tokenizer.ggml.".
Status corrupt(const char* field, const std::string& text) {
  return {
      ErrorCode::kCorrupt,
      "[tokenizer] " + std::string(field) + ": expected " + text};
}

Status check_sizes(const SpmVocabulary& vocabulary) {
  const size_t count = vocabulary.pieces.size();
  if (count == 0 || count > size_t{1} << 28) {
    return corrupt("tokens", "1 to 2^28 pieces, got " + std::to_string(count));
  }
  for (const auto& [field, name, size] :
       {std::tuple{"scores", "scores", vocabulary.scores.size()},
        std::tuple{"token_type", "types", vocabulary.types.size()}}) {
    if (size != count) {
      return corrupt(
          field,
          "as many " + std::string(name) + " as pieces (" +
              std::to_string(count) + "), got " + std::to_string(size));
    }
  }
  return {};
}

Status check_ids(const SpmVocabulary& vocabulary) {
  const auto count = static_cast<int64_t>(vocabulary.pieces.size());
  for (const auto& [field, name, id] :
       {std::tuple{"bos_token_id", "a bos", vocabulary.bos},
        std::tuple{"eos_token_id", "an eos", vocabulary.eos},
        std::tuple{"unknown_token_id", "an unknown", vocabulary.unknown},
        std::tuple{"padding_token_id", "a padding", vocabulary.padding}}) {
    if (id != kNoToken && (id < 0 || id >= count)) {
      return corrupt(
          field,
          std::string(name) + " id below " + std::to_string(count) + ", got " +
              std::to_string(id));
    }
  }
  if (vocabulary.add_bos && vocabulary.bos == kNoToken) {
    return corrupt("add_bos_token", "a bos id where add_bos is set, got none");
  }
  if (vocabulary.add_eos && vocabulary.eos == kNoToken) {
    return corrupt("add_eos_token", "an eos id where add_eos is set, got none");
  }
  return {};
}

Status check_piece(const SpmVocabulary& vocabulary, size_t i) {
  const std::string_view piece = vocabulary.pieces[i];
  const int32_t type = vocabulary.types[i];
  const auto at = [&] { return " of piece " + std::to_string(i); };
  if (type < 1 || type > 6) {
    return corrupt(
        "token_type",
        "a type" + at() + " from 1 to 6, got " + std::to_string(type));
  }
  if (std::isnan(vocabulary.scores[i])) {
    return corrupt("scores", "a score" + at() + ", got a NaN");
  }
  if (piece.size() > std::numeric_limits<uint32_t>::max() / 4) {
    return corrupt(
        "tokens",
        "a size" + at() + " below 1 GiB, got " + std::to_string(piece.size()));
  }
  switch (static_cast<PieceType>(type)) {
    case PieceType::kByte:
      return byte_of_piece(piece) >= 0
          ? Status()
          : corrupt(
                "tokens",
                "a byte \"<0x00>\" to \"<0xFF>\" as text" + at() +
                    ", got another");
    case PieceType::kUserDefined:
    case PieceType::kControl:
    case PieceType::kUnknown:
      return piece.size() <= kMaxSearchedPieceBytes
          ? Status()
          : corrupt(
                "tokens",
                "at most 1024 bytes" + at() + ", got " +
                    std::to_string(piece.size()));
    default:
      return {};
  }
}

} // namespace

Status check_spm_vocabulary(const SpmVocabulary& vocabulary) {
  Status status = check_sizes(vocabulary);
  if (status.ok()) {
    status = check_ids(vocabulary);
  }
  for (size_t i = 0; status.ok() && i < vocabulary.pieces.size(); ++i) {
    status = check_piece(vocabulary, i);
  }
  return status;
}

} // namespace holdfast
