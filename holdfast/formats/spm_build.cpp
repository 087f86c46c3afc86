// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/formats/spm_model.h"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast {
namespace {

Status index_pieces(SpmRules& rules) {
  Status status = rules.index();
  if (!status.ok()) {
    return status;
  }
  for (size_t i = 0; i < rules.pieces.size(); ++i) {
    if (rules.mergeable(static_cast<TokenId>(i))) {
      rules.pairs.add_with_marks(rules.pieces[i]);
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
    const int byte = byte_of_piece(rules.pieces[i]);
    TokenId& id = rules.byte_ids[static_cast<size_t>(byte)];
    if (id != kNoToken) {
      return {
          ErrorCode::kCorrupt,
          "[tokenizer] tokens: expected one piece for byte " +
              std::to_string(byte) + ", got " + std::to_string(id) + " and " +
              std::to_string(i)};
    }
    id = static_cast<TokenId>(i);
    ++found;
  }
  if (found == 256 || (found == 0 && rules.unknown != kNoToken)) {
    return {};
  }
  return {
      ErrorCode::kUnsupported,
      "[tokenizer] token_type: expected 256 byte pieces, or none and an "
      "unknown piece, "
      "got " +
          std::to_string(found) + " byte pieces"};
}

} // namespace

Result<std::shared_ptr<const TokenModel>>
SpmModel::build(SpmVocabulary vocabulary) {
  // Before the checks: a mapped file's bytes may change after them.
  SpmRules rules(std::move(vocabulary.pieces));
  vocabulary.pieces = rules.pieces;
  Status status = check_spm_vocabulary(vocabulary);
  if (!status.ok()) {
    return status;
  }
  rules.scores.assign(vocabulary.scores.begin(), vocabulary.scores.end());
  rules.unknown = static_cast<TokenId>(vocabulary.unknown);
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
  return std::shared_ptr<const TokenModel>(
      std::make_shared<const SpmModel>(vocabulary, std::move(rules)));
}

} // namespace holdfast
