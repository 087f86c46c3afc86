// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast {
namespace {

// Indexes the pieces. The empty ones have an id and no text to be found by.
Status index_pieces(SpmRules& rules) {
  const auto [first, second] = rules.table.index_all();
  if (first != kNoToken) {
    return {
        ErrorCode::kCorrupt,
        "[tokenizer] expected distinct pieces, got piece " +
            std::to_string(second) + " equal to piece " +
            std::to_string(first)};
  }
  for (size_t i = 0; i < rules.pieces.size(); ++i) {
    if (rules.mergeable(static_cast<TokenId>(i))) {
      rules.pairs.add_all_of(rules.pieces[i]);
    }
  }
  return {};
}

// Either all 256 bytes have a piece, or none has and an unknown piece stands
// for what cannot be written.
Status index_bytes(SpmRules& rules) {
  rules.byte_ids.fill(kNoToken);
  int64_t found = 0;
  for (size_t i = 0; i < rules.pieces.size(); ++i) {
    if (rules.types[i] != PieceType::kByte) {
      continue;
    }
    const int byte = spm_byte_of(rules.pieces[i]);
    TokenId& id = rules.byte_ids[static_cast<size_t>(byte)];
    if (id != kNoToken) {
      return {
          ErrorCode::kCorrupt,
          "[tokenizer] expected one piece for byte " + std::to_string(byte) +
              ", got " + std::to_string(id) + " and " + std::to_string(i)};
    }
    id = static_cast<TokenId>(i);
    ++found;
  }
  if (found == 256 || (found == 0 && rules.unknown != kNoToken)) {
    return {};
  }
  return {
      ErrorCode::kUnsupported,
      "[tokenizer] expected 256 byte pieces, or none and an unknown piece, "
      "got " +
          std::to_string(found) + " byte pieces"};
}

} // namespace

Result<Tokenizer> Tokenizer::build(SpmVocabulary vocabulary) {
  Status status = check_spm_vocabulary(vocabulary);
  if (!status.ok()) {
    return status;
  }
  const size_t count = vocabulary.pieces.size();
  SpmRules rules{
      .table = SpmPieceTable(vocabulary.pieces),
      .pairs = {},
      .pieces = std::move(vocabulary.pieces), // keeps its storage
      .scores = {vocabulary.scores.begin(), vocabulary.scores.end()},
      .types = std::vector<PieceType>(count),
      .unknown = static_cast<TokenId>(vocabulary.unknown)};
  std::transform(
      vocabulary.types.begin(),
      vocabulary.types.end(),
      rules.types.begin(),
      [](int32_t type) { return static_cast<PieceType>(type); });
  status = index_pieces(rules);
  if (status.ok()) {
    status = index_bytes(rules);
  }
  if (!status.ok()) {
    return status;
  }
  return Tokenizer(vocabulary, std::move(rules));
}

} // namespace holdfast
